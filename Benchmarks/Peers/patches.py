"""What leads from one store to another, applied, undone, and merged with what somebody else has changed."""
import os
import shutil

from differences import Diff, rows_that_differ
from machine import Failure
from runs import Run


class Applied(Run):
    """A command that changes a copy of a pair's old state."""

    is_importer = True

    def check(self, machine, work, measurement):
        store, expected = os.path.join(work, self.store()), self.expected()
        found = rows_that_differ(self.data, expected, store)
        if any(found.values()):
            raise Failure(f"wrong result: {found} against {expected}")


class Patch(Applied):
    """`importer patch` of the change set that `first` has just written; the whole process."""

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data)
        self.first = first
        self.after = (first,)

    def prepare(self, machine, work):
        store = os.path.join(work, self.store())
        shutil.copyfile(self.data.old, store)
        self.data.warm(store)

    def command(self, machine, work):
        return [machine.importer, "patch", os.path.join(work, self.store()), self.first.output(work), "--quiet"]

    def expected(self):
        return self.data.new


class Undo(Applied):
    """`importer undo` of what `first` has just done; the whole process."""

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data)
        self.after = (first,)
        self.first = first

    def store(self):
        return self.first.store()

    def command(self, machine, work):
        return [machine.importer, "undo", os.path.join(work, self.store()), "--quiet"]

    def expected(self):
        return self.data.old


class DiffOther(Diff):
    """`importer diff` of the old state and what somebody else has made of it, who has changed as many others."""

    def new(self):
        return self.data.other


class Merge(Diff):
    """`importer merge` of both, which writes what leads from somebody else's state to the merged one; the whole process."""

    def prepare(self, machine, work):
        super().prepare(machine, work)
        self.data.warm(self.data.other)

    def command(self, machine, work):
        return [machine.importer, "merge", self.data.old, self.data.other, self.data.new, "--output", self.output(work)]
