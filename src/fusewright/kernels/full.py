"""What a kernel with lists ends with where there is too little room for them."""


class Full(Exception):
    """A list has no room for that many items: the call is made again, with more."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed
