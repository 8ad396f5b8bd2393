"""The only codec the Python shim's interpreter needs; stands in for `encodings`, whose import takes 1 ms."""

import codecs


class _Encoder(codecs.IncrementalEncoder):
    def encode(self, text: str, final: bool = False) -> bytes:
        return codecs.utf_8_encode(text, self.errors)[0]


class _Decoder(codecs.BufferedIncrementalDecoder):
    _buffer_decode = staticmethod(codecs.utf_8_decode)  # type: ignore[assignment]


class _Reader(codecs.StreamReader):
    decode = staticmethod(codecs.utf_8_decode)  # type: ignore[assignment]


class _Writer(codecs.StreamWriter):
    encode = staticmethod(codecs.utf_8_encode)  # type: ignore[assignment]


def search(name: str) -> codecs.CodecInfo | None:
    """UTF-8 under each of its names."""
    if name.replace("-", "_") not in ("utf_8", "utf8"):
        return None
    return codecs.CodecInfo(
        codecs.utf_8_encode, codecs.utf_8_decode, _Reader, _Writer, _Encoder, _Decoder, name="utf-8"
    )


codecs.register(search)
