"""The only codecs the Python shim's interpreter needs; stands in for `encodings`, whose import takes 1 ms.

Whatever the locale is called, its codec must be found, or the interpreter does not start. The shim itself works on
bytes, so any codec that takes all ASCII does for the names other than UTF-8's.
"""

import codecs


def _info(name: str, encoded, decoded) -> codecs.CodecInfo:  # type: ignore[no-untyped-def]
    class Encoder(codecs.IncrementalEncoder):
        def encode(self, text: str, final: bool = False) -> bytes:
            return encoded(text, self.errors)[0]  # type: ignore[no-any-return]

    class Decoder(codecs.BufferedIncrementalDecoder):
        def _buffer_decode(self, data, errors, final):  # type: ignore[no-untyped-def]
            return decoded(data, errors, final)

    return codecs.CodecInfo(encoded, decoded, codecs.StreamReader, codecs.StreamWriter, Encoder, Decoder, name=name)


def _latin(data: bytes, errors: str = "strict", final: bool = True) -> tuple[str, int]:
    return codecs.latin_1_decode(data, errors)


def search(name: str) -> codecs.CodecInfo:
    """UTF-8 under each of its names, Latin 1 under all others."""
    if name.replace("-", "_") in ("utf_8", "utf8"):
        return _info("utf-8", codecs.utf_8_encode, codecs.utf_8_decode)
    return _info("iso8859-1", codecs.latin_1_encode, _latin)


codecs.register(search)
