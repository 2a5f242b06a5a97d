"""The memory that a Parquet or Arrow file says it takes, read from its headers before any value is.

Small files can hold very many values: repeated ones, compressed ones, or none but nulls. Both readers follow the
published formats, read headers only, and raise an OSError if they are cut off or point outside the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

NUMBER, TEXT = 8, 16  # bytes of a value in memory; those of a text without its characters
COLUMN = 4096  # bytes of a column of a text file while it is read, without its values
_BLOCK = struct.Struct("<qiiq")
_FILE_MARK, _CONTINUATION = b"ARROW1", b"\xff\xff\xff\xff"
_MAX_DEPTH = 32  # of a header; those of the formats have 8
# The numbers of fields in the headers of both formats.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_TYPE, _N_VALUES, _UNCOMPRESSED, _COMPRESSED, _DATA_OFFSET, _DICTIONARY_OFFSET = 1, 5, 6, 7, 9, 11
_TEXT_TYPES = (6, 7)  # of any or a fixed number of bytes
_PAGE_UNCOMPRESSED, _PAGE_COMPRESSED, _DATA_PAGE, _DATA_PAGE_V2 = 2, 3, 5, 8
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


@dataclass(frozen=True)
class DeclaredSize:
    """The memory that a file says it takes.

    Parameters
    ----------
    total : int
        The bytes of all values.
    largest : int
        Those of the largest piece that has to be read at once: a row group, or a record batch.
    """

    total: int
    largest: int


def parquet_size(data: Any) -> DeclaredSize:
    """Read how much memory a Parquet file takes.

    Parameters
    ----------
    data : buffer
        The file, or a memory map of it.

    Returns
    -------
    DeclaredSize
        The larger of what the end of the file and the headers of its pages declare.
    """
    with _headers(data) as view:
        (n_footer,) = struct.unpack_from("<I", view, len(view) - 8)
        begin = len(view) - 8 - n_footer
        footer, _ = _Thrift(view, begin).struct()
        sizes = []
        for group in footer.get(_ROW_GROUPS, []):
            chunks = [chunk.get(_METADATA, {}) for chunk in group.get(_COLUMNS, [])]
            sizes.append(sum(_chunk_size(view, about) for about in chunks))
    return DeclaredSize(sum(sizes), max(sizes, default=0))


def _chunk_size(view: memoryview, about: dict[int, Any]) -> int:
    """Return the memory of a column in a row group."""
    pages = list(_pages(view, about))
    n_values = max(int(about.get(_N_VALUES, 0)), sum(n for n, _ in pages))
    if about.get(_TYPE) in _TEXT_TYPES:
        return TEXT * n_values + max(int(about.get(_UNCOMPRESSED, 0)), sum(size for _, size in pages))
    return max([NUMBER * n_values, *(size for _, size in pages)])


def _pages(view: memoryview, about: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """Yield the number of values and the uncompressed size of each page of a column."""
    offset = about.get(_DATA_OFFSET, 0)
    offset = min(offset, about.get(_DICTIONARY_OFFSET) or offset)
    end = min(offset + about.get(_COMPRESSED, 0), len(view))
    while offset < end:
        header, position = _Thrift(view, offset).struct()
        n_compressed = header.get(_PAGE_COMPRESSED, 0)
        if n_compressed < 0:
            raise ValueError
        n_values = header.get(_DATA_PAGE, {}).get(1, 0) + header.get(_DATA_PAGE_V2, {}).get(1, 0)
        yield max(n_values, 0), max(header.get(_PAGE_UNCOMPRESSED, 0), 0)
        offset = position + n_compressed


class _Thrift:
    """A reader of Thrift's compact protocol: fields by their numbers."""

    def __init__(self, view: memoryview, position: int) -> None:
        if position < 0:
            raise ValueError
        self.view, self.position = view, position

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) & 0x0F:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 0x0F
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return fields, self.position

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind in (7, 8):
            return self._skip(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._varint()
            self._skip(0 if n <= len(self.view) - self.position else n)  # a value has a byte at least
            return [self._value(head & 0x0F, depth + 1) for _ in range(n)]
        if kind == 12:
            return self.struct(depth + 1)[0]
        raise ValueError  # maps are not in these headers

    def _skip(self, n: int) -> None:
        self.position += n
        if self.position > len(self.view):
            raise ValueError

    def _byte(self) -> int:
        value = self.view[self.position]
        self.position += 1
        return value

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError
        return value | byte << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


def arrow_size(data: Any) -> DeclaredSize:
    """Read how much memory an Arrow file or stream takes.

    Parameters
    ----------
    data : buffer
        The file, or a memory map of it.

    Returns
    -------
    DeclaredSize
        The sizes that the headers of its buffers declare, and those of its rows.
    """
    with _headers(data) as view:
        messages = _file_messages(view) if bytes(view[:6]) == _FILE_MARK else _stream_messages(view)
        sizes = [_batch_size(view, *message) for message in messages]
    return DeclaredSize(sum(sizes), max(sizes, default=0))


def _file_messages(view: memoryview) -> Iterator[tuple[int, int]]:
    """Yield where the header and the body of each message of a file begin."""
    (n_footer,) = struct.unpack_from("<i", view, len(view) - 10)
    footer = _Table.root(view, len(view) - 10 - n_footer)
    for field in (2, 3):  # dictionaries, record batches
        for position in footer.items(field, _BLOCK.size):
            offset, n_header, _, _ = _BLOCK.unpack_from(view, position)
            skipped = 8 if bytes(view[offset : offset + 4]) == _CONTINUATION else 4
            yield offset + skipped, offset + n_header


def _stream_messages(view: memoryview) -> Iterator[tuple[int, int]]:
    offset = 0
    while offset + 8 <= len(view):
        is_new = bytes(view[offset : offset + 4]) == _CONTINUATION
        begin = offset + (8 if is_new else 4)
        (n_header,) = struct.unpack_from("<i", view, begin - 4)
        if n_header <= 0:
            return
        yield begin, begin + n_header
        n_body = _Table.root(view, begin).integer(3, "<q")
        if n_body < 0:
            raise ValueError
        offset = begin + n_header + n_body


def _batch_size(view: memoryview, header: int, body: int) -> int:
    """Return the memory of a record batch or a dictionary; 0 for another message."""
    message = _Table.root(view, header)
    kind = message.integer(1, "<B")
    batch = message.table(2) if kind == _RECORD_BATCH else None
    if kind == _DICTIONARY_BATCH:
        batch = message.table(2).table(1)
    if batch is None:
        return 0
    n_values = sum(max(int(struct.unpack_from("<q", view, node)[0]), 0) for node in batch.items(1, 16))
    is_packed = batch.has(3)
    size = 0
    for position in batch.items(2, 16):
        offset, length = struct.unpack_from("<qq", view, position)
        if is_packed and length >= 8:
            (unpacked,) = struct.unpack_from("<q", view, body + offset)
            length = unpacked if unpacked >= 0 else length - 8  # -1: this buffer is not compressed
        size += max(int(length), 0)
    return max(NUMBER * n_values, size)


class _Table:
    """A table of a flatbuffer: fields by their numbers."""

    def __init__(self, view: memoryview, position: int) -> None:
        self.view, self.position = view, position
        (back,) = struct.unpack_from("<i", view, position)
        self.fields = position - back
        if position < 0 or self.fields < 0:
            raise ValueError
        (self.n_fields,) = struct.unpack_from("<H", view, self.fields)

    @classmethod
    def root(cls, view: memoryview, begin: int) -> _Table:
        if begin < 0:
            raise ValueError
        return cls(view, begin + int(struct.unpack_from("<I", view, begin)[0]))

    def _at(self, field: int) -> int | None:
        where = 4 + 2 * field
        offset = struct.unpack_from("<H", self.view, self.fields + where)[0] if where < self.n_fields else 0
        return self.position + offset if offset else None

    def has(self, field: int) -> bool:
        return self._at(field) is not None

    def integer(self, field: int, kind: str) -> int:
        at = self._at(field)
        return 0 if at is None else int(struct.unpack_from(kind, self.view, at)[0])

    def _target(self, field: int) -> int | None:
        at = self._at(field)
        return None if at is None else at + int(struct.unpack_from("<I", self.view, at)[0])

    def table(self, field: int) -> _Table:
        at = self._target(field)
        if at is None:
            raise ValueError
        return _Table(self.view, at)

    def items(self, field: int, size: int) -> range:
        """Return the positions of the structs of a list."""
        at = self._target(field)
        if at is None:
            return range(0)
        (n,) = struct.unpack_from("<I", self.view, at)
        if at + 4 + n * size > len(self.view):
            raise ValueError
        return range(at + 4, at + 4 + n * size, size)


@contextmanager
def _headers(data: Any) -> Iterator[memoryview]:
    try:
        with memoryview(data) as view:
            yield view
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError, struct.error):
        raise OSError("its headers are damaged or cut off") from None
