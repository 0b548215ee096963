"""Refuses code that names what it must not use, before it runs.

This is a courtesy to the model (a clear message instead of a strange failure), not a boundary:
`getattr` and a little patience get around any such list. The kernel's limits are the boundary.
"""

import ast


class StaticCheck:
    """`forbidden` are dotted names; one that ends in `*` forbids all names with that beginning."""

    def __init__(self, forbidden):
        self.names = frozenset(name for name in forbidden if not name.endswith("*"))
        self.beginnings = tuple(name[:-1] for name in forbidden if name.endswith("*"))
        # The meanings of names, from imports of this and of earlier code of the session.
        self.aliases = {}

    def first_offense(self, tree):
        """The first forbidden name in the code as (name, line), or None."""
        stored = set()
        nodes = list(ast.walk(tree))
        offenses = []
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or alias.name.partition(".")[0]
                    self.aliases[local] = alias.name if alias.asname else local
                    self._note(alias.name, node, offenses)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    self.aliases[alias.asname or alias.name] = full
                    self._note(full, node, offenses)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                stored.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                stored.add(node.name)
            elif isinstance(node, ast.arg):
                stored.add(node.arg)
        for name in stored:  # a variable of the code's own hides what it imported
            self.aliases[name] = None
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                full = self._resolve(node)
                if full is not None:
                    self._note(full, node, offenses)
        return min(offenses, key=lambda offense: offense[1], default=None)

    def _resolve(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        root = self.aliases.get(node.id, node.id)
        if root is None:
            return None
        return ".".join((root, *reversed(parts)))

    def _note(self, full, node, offenses):
        name = full
        while name:
            if name in self.names or (self.beginnings and name.startswith(self.beginnings)):
                offenses.append((name, node.lineno))
                return
            name = name.rpartition(".")[0]
