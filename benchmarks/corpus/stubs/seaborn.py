"""A plotting library that draws nothing."""

import corpus_stub

corpus_stub.install(__name__)
