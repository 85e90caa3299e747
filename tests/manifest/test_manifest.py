from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from enzyme_build.errors import ManifestError
from enzyme_build.manifest import (
    BitcodeRecord,
    LibraryRecord,
    Manifest,
    RuleProblemRecord,
    RuleRecord,
    SiteRecord,
    SymbolRecord,
    WaiverRecord,
    decode_manifest,
    encode_manifest,
    json_schema,
    manifest_path,
    read_manifest,
    write_manifest,
)
from enzyme_build.model import Mode, PointerMode

FULL = Manifest(
    schema="enzymebc-manifest/1",
    generator="enzyme-build 0.1.0",
    library=LibraryRecord(file="libkernel.so", machine="x86-64", soname="libkernel.so", section_sha256="00ff"),
    bitcode=BitcodeRecord(
        llvm="15.0.6",
        pointers=PointerMode.TYPED,
        triple="x86_64-pc-linux-gnu",
        datalayout="e-m:e",
        optimization="O2",
        modules=2,
        sources=("src/kernel.c", "src/util.c"),
    ),
    consumers=("julia-1.11",),
    roots=("kernel",),
    symbols={
        "kernel": SymbolRecord(status="bitcode", exported=True, type="double (double)", calls=("my_square",)),
        "my_square": SymbolRecord(
            status="rule", rule=0, modes=(Mode.REVERSE,), sites=(SiteRecord(caller="kernel", file="kernel.c", line=3),)
        ),
    },
    rules=(
        RuleRecord(
            kind="derivative",
            symbol="my_square",
            file="rules/my_square.toml",
            key="derivative[0]",
            line=1,
            functions={"augmented": "a", "gradient": "g"},
            modes=(Mode.REVERSE,),
            problems=(RuleProblemRecord(finding="EB010", text="wrong", fix="mend it"),),
        ),
    ),
    dependencies=(),
    waivers=(WaiverRecord(symbol="log", reason="only logs"),),
)


def test_round_trip() -> None:
    assert decode_manifest(encode_manifest(FULL), shown="x") == FULL


def test_it_fits_its_schema() -> None:
    jsonschema.validate(json.loads(encode_manifest(FULL)), json_schema())


def test_a_document_with_a_wrong_status_does_not_fit_the_schema() -> None:
    document = json.loads(encode_manifest(FULL))
    document["symbols"]["kernel"]["status"] = "fine"
    with pytest.raises(jsonschema.ValidationError, match="'fine' is not one of"):
        jsonschema.validate(document, json_schema())


def test_the_bytes_are_sorted_and_always_the_same() -> None:
    data = encode_manifest(FULL)
    document = json.loads(data)
    assert list(document) == sorted(document)
    assert list(document["symbols"]["kernel"]) == sorted(document["symbols"]["kernel"])
    assert data.endswith(b"}\n")
    assert encode_manifest(decode_manifest(data, shown="x")) == data


def test_it_lies_beside_the_library() -> None:
    assert manifest_path(Path("lib/libkernel.so.1")) == Path("lib/libkernel.so.1.enzymebc.json")


def test_writing_the_same_again_leaves_the_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "libkernel.so.enzymebc.json"
    assert write_manifest(FULL, file)
    before = file.stat().st_mtime_ns
    assert not write_manifest(FULL, file)
    assert file.stat().st_mtime_ns == before
    assert read_manifest(file) == FULL
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-20], "not a manifest"),
        (lambda text: text.replace("manifest/1", "manifest/9"), r"schema is 'enzymebc-manifest/9', this version reads"),
        (lambda text: "[]", "schema is None"),
        (lambda text: text.replace('"bitcode",', '"good",'), r"Invalid enum value 'good'.*\$\.symbols"),
        (lambda text: text.replace('"roots"', '"rots"'), "unknown field `rots`|missing required field `roots`"),
    ],
)
def test_a_bad_document_is_a_clear_error(change, message: str) -> None:
    text = encode_manifest(FULL).decode()
    with pytest.raises(ManifestError, match=message) as caught:
        decode_manifest(change(text).encode(), shown="lib.so.enzymebc.json")
    assert str(caught.value).startswith("lib.so.enzymebc.json: ")
    assert caught.value.hint is not None


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none: cannot read the manifest: No such file"):
        read_manifest(tmp_path / "none")
