"""Staged libraries are all or nothing, and equal files are left untouched."""

from __future__ import annotations

import os

import pytest

from enzyme_build.backends.staging import Stage, place, remove_stale


def fill(stage, linked, made_from="one"):
    with stage.renewed_from(linked, made_from) as library:
        library.write_bytes(library.read_bytes() + b" finished")
        stage.manifest.write_text("{}")


@pytest.fixture
def linked(tmp_path):
    path = tmp_path / "libx.so"
    path.write_bytes(b"linked")
    return path


def test_a_stage_is_fresh_for_the_same_input_only(tmp_path, linked):
    stage = Stage(tmp_path / "work", "pkg/libx.so")
    assert not stage.is_fresh("one")
    fill(stage, linked)
    assert stage.library.read_bytes() == b"linked finished"
    assert stage.is_fresh("one")
    assert not stage.is_fresh("two")


@pytest.mark.parametrize("which", ["library", "manifest"])
def test_a_stage_that_was_touched_is_not_fresh(tmp_path, linked, which):
    stage = Stage(tmp_path / "work", "pkg/libx.so")
    fill(stage, linked)
    getattr(stage, which).write_text("other")
    assert not stage.is_fresh("one")


def test_a_failure_empties_the_stage(tmp_path, linked):
    stage = Stage(tmp_path / "work", "pkg/libx.so")
    fill(stage, linked)
    with pytest.raises(KeyboardInterrupt), stage.renewed_from(linked, "two"):
        raise KeyboardInterrupt
    assert not stage.library.exists()
    assert not stage.manifest.exists()
    assert not stage.is_fresh("one")


def test_an_equal_file_is_left_untouched(tmp_path, linked):
    target = tmp_path / "new/libx.so"
    assert place(linked, target)
    os.utime(target, (1, 1))
    assert not place(linked, target)
    assert target.stat().st_mtime == 1
    linked.write_bytes(b"changed")
    assert place(linked, target)
    assert target.read_bytes() == b"changed"
    assert list(target.parent.iterdir()) == [target]  # no temporary file stays


def test_what_an_earlier_build_placed_is_removed_and_nothing_else(tmp_path):
    record, old, kept, foreign = tmp_path / "record.json", tmp_path / "old", tmp_path / "kept", tmp_path / "foreign"
    for path in (old, kept, foreign):
        path.touch()
    remove_stale(record, [old, kept])
    remove_stale(record, [kept])
    assert not old.exists()
    assert kept.exists()
    assert foreign.exists()
    record.write_text("not JSON")
    remove_stale(record, [kept])
    assert kept.exists()
