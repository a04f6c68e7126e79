"""Kernels one after another over blocks of rows, so that what they exchange stays in the cache.

    row_blocks       for each block of rows: every step's kernel, with its own argument words
    rows_by_panels   the step that multiplies a block of rows with panels packed before

A step is any kernel with the usual four parameters: element-wise code comes from `codegen.lower`
as for whole arrays.  Its words are copied, and those that point into memory are set for the block.
"""

from __future__ import annotations

from fusewright.codegen.products.blocks import KERNEL, Loops
from fusewright.codegen.products.sizes import PANEL_WORDS, STEP_WORDS

BLOCK_WORDS = ("steps", "last", "count", "blocks", "offsets", "columns")
"""What `row_blocks` reads: the steps, and those for the last block of an item, which may have fewer
rows; how many there are; blocks of an item; for each item a row of so many columns of bytes to add
to addresses.  A unit is a block.
"""
PATCH_WORDS = ("place", "base", "local", "column", "step")
"""An address: which word it is; where it points for the first block, counted from the thread's
scratch where `local` is -1, else 0; the column of the offsets; the bytes from block to block.
"""


class RowBlocksKernel(Loops):
    """`row_blocks`."""

    def text(self) -> str:
        self.words(BLOCK_WORDS)
        scratch = self.line("ptrtoint ptr %scratch to i64")
        final = self.minus("%blocks", "1")
        with self.loop("%lo", "%hi") as unit:
            item = self.line(f"sdiv i64 {unit}, %blocks")
            block = self.line(f"srem i64 {unit}, %blocks")
            is_last = self.line(f"icmp eq i64 {block}, {final}")
            steps = self.line(f"select i1 {is_last}, ptr %last, ptr %steps")
            row = self.at("%offsets", self.times(item, "%columns"), 8)
            with self.loop("0", "%count") as number:
                step = self.at(steps, number, 8 * len(STEP_WORDS))
                self.run(step, scratch, row, block)
        return self.function("row_blocks", KERNEL, private=False)

    def run(self, step: str, scratch: str, row: str, block: str) -> None:
        """One step on one block."""
        code, words, length, units, patches, patched, own = (
            self.word(step, place, "ptr" if name in ("code", "words", "patches") else "i64")
            for place, name in enumerate(STEP_WORDS)
        )
        with self.loop("0", length) as place:
            value = self.line(f"load i64, ptr {self.at(words, place, 8)}, align 8")
            self.do(f"store i64 {value}, ptr {self.at('%scratch', place, 8)}, align 8")
        with self.loop("0", patched) as number:
            patch = self.at(patches, number, 8 * len(PATCH_WORDS))
            place, base, local, column, pace = (
                self.word(patch, place, "i64") for place in range(len(PATCH_WORDS))
            )
            offset = self.line(f"load i64, ptr {self.at(row, column, 8)}, align 8")
            total = self.line(f"add i64 {base}, {self.line(f'and i64 {local}, {scratch}')}")
            total = self.line(f"add i64 {total}, {offset}")
            total = self.line(f"add i64 {total}, {self.times(block, pace)}")
            self.do(f"store i64 {total}, ptr {self.at('%scratch', place, 8)}, align 8")
        behind = self.at("%scratch", own, 1)
        self.do(f"call void {code}(ptr %scratch, i64 0, i64 {units}, ptr {behind})")


class PanelsKernel(Loops):
    """`rows_by_panels`."""

    def text(self) -> str:
        self.words(PANEL_WORDS)
        with self.loop("0", self.parts("%depth", "%chunk")) as chunk:
            k = self.times(chunk, "%chunk")
            deep = self.least(self.minus("%depth", k), "%chunk")
            source = self.moved("%from", k, "%along")
            panels = self.moved("%panels", chunk, "%every")
            adds = self.line(f"icmp ne i64 {chunk}, 0")
            self.do(
                f"call void @block(ptr {source}, i64 %along, i64 %across, i64 {deep}, i64 %rows, "
                f"ptr {panels}, i64 %panel, i64 %columns, ptr %out, i64 %step, i1 {adds}, "
                "ptr %scratch)"
            )
        return self.function("rows_by_panels", KERNEL, private=False)
