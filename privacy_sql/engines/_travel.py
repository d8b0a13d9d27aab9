"""Two engines as one: the user's, which has the rows, and an embedded one, which gets the counts.

A statement runs embedded if it reads only counts, and on the user's engine if it reads rows. Relations that
it needs from the other engine are copied there once. The counted base and its dictionaries travel with the
first statement that reads them; rows never do.
"""

from __future__ import annotations

import itertools
import re
import secrets
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privacy_sql import registry
from privacy_sql.engines import Columns, Engine, Row, Source
from privacy_sql.query.template import Query, Sql

if TYPE_CHECKING:
    import pyarrow as pa

    from privacy_sql.engines import WholeNumbers

OF_HOME = re.compile(r"\bps_[0-9]+_")  # the names of an engine's own relations


class Place:
    """Where a relation is: on the user's engine, embedded, or by now on both."""

    def __init__(self, owner: Travelled, home: Sql | None = None, near: Sql | None = None) -> None:
        self.owner = weakref.ref(owner)  # its copies live as long as it
        self.home = home
        self.near = near

    def at_home(self) -> Sql:
        if self.home is None:
            self.home = _copied(self.near, self._owner()._near, self._owner()._home)
        return self.home

    def embedded(self) -> Sql:
        if self.near is None:
            self.near = _copied(self.home, self._owner()._home, self._owner()._near)
        return self.near

    def _owner(self) -> Travelled:
        owner = self.owner()
        assert owner is not None, "a relation outlives its session"
        return owner


def _copied(relation: Sql | None, source: Engine, target: Engine) -> Sql:
    return target.take(source.arrow(Query(f"select * from {relation}", "travel")), "travelled")


class Travelled(Engine):
    """An engine that uses an embedded engine to search its counted relations."""

    # what this engine counted has already travelled, or stays
    embedded = True

    def __init__(
        self,
        home: Engine,
        near: Engine,
        prefix: str,
        places: weakref.WeakValueDictionary[str, Place],
        numbers: Iterator[int],
    ) -> None:
        self._home = home
        self._near = near
        self.one_text, self.undoes = home.one_text, home.undoes
        self.at_once = near.at_once
        self._prefix = prefix
        self._places: weakref.WeakValueDictionary[str, Place] = places
        self._numbers = numbers
        self._mine: dict[str, Place] = {}
        self._names = re.compile(rf"\b{prefix}_[0-9]+_[a-z0-9_]+")

    @property
    def dialect(self) -> str:
        return self._home.dialect

    @property
    def connection(self) -> Any:
        """The user's own connection, for other work."""
        return self._home.connection

    def counted(self, relation: Sql) -> Sql:
        """A counted relation of the user's engine, under a name that is allowed to travel."""
        return self._named(Place(self, home=relation), relation)

    def session(self, files: Iterable[Path] = (), folders: Iterable[Path] = ()) -> Travelled:
        home, near = self._home.session(files, folders), self._near.session()
        return Travelled(home, near, self._prefix, self._places, self._numbers)

    def create(self, query: Query, *, view: bool = False) -> Sql:
        if self._reads_rows(query):
            # under the name of the user's engine, so it does not travel
            return self._home.create(self._at_home(query), view=view)
        made = self._near.create(self._embedded(query), view=view)
        return self._named(Place(self, near=made), query.origin.rpartition("/")[2].split()[0])

    def filled(self, query: Query) -> tuple[Sql, int]:
        if self._reads_rows(query):
            return self._home.filled(self._at_home(query))
        made, n_rows = self._near.filled(self._embedded(query))
        return self._named(Place(self, near=made), query.origin.rpartition("/")[2].split()[0]), n_rows

    def rows_of(self, query: Query) -> Sql:
        return self._home.create(self._at_home(query), view=True)

    def load(self, columns: Columns, origin: str) -> Sql:
        return self._named(Place(self, near=self._near.load(columns, origin)), origin)

    def load_whole_numbers(self, columns: WholeNumbers, origin: str) -> Sql:
        return self._named(Place(self, near=self._near.load_whole_numbers(columns, origin)), origin)

    def take(self, table: pa.Table, origin: str) -> Sql:
        return self._named(Place(self, near=self._near.take(table, origin)), origin)

    def fetch(self, query: Query) -> list[Row]:
        if self._reads_rows(query):
            return self._home.fetch(self._at_home(query))
        return self._near.fetch(self._embedded(query))

    def arrays(self, query: Query) -> dict[str, Any]:
        if self._reads_rows(query):
            return self._home.arrays(self._at_home(query))
        return self._near.arrays(self._embedded(query))

    def arrow(self, query: Query) -> pa.Table:
        if self._reads_rows(query):
            return self._home.arrow(self._at_home(query))
        return self._near.arrow(self._embedded(query))

    def drop(self, relation: Sql) -> None:
        place = self._mine.pop(relation, None)
        if place is None:
            self._home.drop(relation)
            return
        for engine, name in ((self._home, place.home), (self._near, place.near)):
            if name is not None:
                engine.drop(name)

    def columns(self, relation: Sql) -> dict[str, str]:
        place = self._places.get(relation)
        if place is None:
            return self._home.columns(relation)
        return self._near.columns(place.embedded())

    def _reads_rows(self, query: Query) -> bool:
        return bool(OF_HOME.search(query.sql))

    def _at_home(self, query: Query) -> Query:
        text = self._names.sub(lambda found: self._places[found[0]].at_home(), query.sql)
        return Query(text, query.origin)

    def _embedded(self, query: Query) -> Query:
        text = self._names.sub(lambda found: self._places[found[0]].embedded(), query.sql)
        return Query(text, query.origin)

    def _named(self, place: Place, step: str) -> Sql:
        name = Sql(f"{self._prefix}_{next(self._numbers)}_{step}")
        self._mine[name] = self._places[name] = place
        return name

    # -- the user's engine: rows in, tables out --------------------------------------------------------

    def source(self, source: Source) -> Sql:
        return self._home.source(source)

    def write_file(self, query: Query, path: Path, kind: str) -> None:
        self._home.write_file(self._at_home(query), path, kind)

    def write_table(self, query: Query, table: str) -> None:
        self._home.write_table(self._at_home(query), table)

    def transaction(self) -> AbstractContextManager[None]:
        return self._home.transaction()

    def rename_table(self, old: str, new: str) -> None:
        self._home.rename_table(old, new)

    def hold_table(self, table: str) -> None:
        self._home.hold_table(table)

    def replace_table(self, new: str, name: str, aside: str) -> None:
        self._home.replace_table(new, name, aside)

    def drop_table(self, table: str) -> None:
        self._home.drop_table(table)

    def has_table(self, table: str) -> bool:
        return self._home.has_table(table)

    def version(self) -> str:
        return self._home.version()

    def beside(self) -> Engine:
        return self._home.beside()

    def close(self) -> None:
        self._near.close()
        self._home.close()


def travelled(engine: Engine, relations: Sequence[Sql], size: int) -> tuple[Engine, list[Sql]]:
    """The engine that searches counted relations, and the names of these there.

    This is the same engine if it is embedded itself, if travelling is off, or if there are too many counts.
    """
    if not engine.travel or size > engine.travel:
        return engine, list(relations)
    near: Engine = registry.get("engines", "duckdb")()
    # a prefix nobody can guess, so that no text of the data is taken for a relation
    prefix = f"ps{secrets.token_hex(4)}"
    both = Travelled(engine, near, prefix, weakref.WeakValueDictionary(), itertools.count(1))
    return both, [both.counted(relation) for relation in relations]
