"""Where SQL runs. An engine creates, loads, fetches and drops; it does not know the meaning of a query.

In: a query, a small table, a source. Out: relations and small results. Read `duckdb.py` first; each engine is
a file with its name and uses the macros of `macros/dialects/<name>.sql`. `_travel.py` decides what runs
embedded, `_sources.py` tells files from tables, `_spill.py` creates private folders, and `_escaping.py`
writes and reads cells that a spreadsheet would run. `explain` and `plainly` turn an engine's errors and types
into ours: in `duckdb.py`, in `_postgres_words.py`.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from privacy_sql import registry
from privacy_sql.errors import UsageError
from privacy_sql.query.template import Query, Sql, quote
from privacy_sql.query.words import refuse_unspoken

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    WholeNumbers: TypeAlias = Mapping[str, npt.NDArray[np.integer[Any]]]

CONNECTIONS = 'Use for example "duckdb:file.db", or an open DuckDB connection.'
Row = dict[str, Any]
# the three types of small tables; names do not tell a column's type, so it is given
Columns = Mapping[str, tuple[str, Sequence[Any]]]
# rows from a user: a DataFrame of pandas, Arrow or Spark, whose libraries may be missing
Frame: TypeAlias = Any
# the source of a table: a file, the name of a relation, or such rows
Source: TypeAlias = str | Path | Frame


class Engine(ABC):
    """The interface of every engine. Relations that it creates are temporary and go when it closes."""

    # what privacy.yml may say of a connection beside its `type`, as a plain tuple, which `keys_of` reads
    keys: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def __init__(self, place: str = "", *, unsafe_debug: bool = False) -> None:
        """Open what stands behind the colon of `connect`; the other options are the engine's own, by name.

        Its `keys` are among them. With `unsafe_debug`, errors show what the engine's library says, rows too.
        """

    @classmethod
    def around(cls, connection: object, *, unsafe_debug: bool = False) -> Engine:
        """An engine on an open connection of its library, where it can share one; that stays open."""
        told = f"a {type(connection).__name__} is not a connection"
        raise UsageError("bad_url", told, hint=CONNECTIONS)

    @property
    @abstractmethod
    def dialect(self) -> str:
        """Its sqlglot dialect."""

    @property
    @abstractmethod
    def connection(self) -> Any:
        """The live connection of the engine's own library, for other work."""

    travel: int = 0  # a counted base of up to so many combinations is searched by an embedded engine
    one_text: bool = True  # any two columns of text may share a column, as there is one order of text
    undoes: bool = False  # what is written in a transaction that fails was never there for anybody
    embedded: bool = False  # what is counted lies in this process
    at_once: int = 1  # so many choices are best counted in one statement, where each statement has its price

    @abstractmethod
    def session(self, files: Iterable[Path] = (), folders: Iterable[Path] = ()) -> Engine:
        """The same engine for one task, with access to these files (to read) and folders (to write).

        Relations created through a session are dropped when nobody holds the session any more.
        """

    @abstractmethod
    def source(self, source: Source) -> Sql:
        """A file, a relation's name or a DataFrame as a relation."""

    def coded(self, source: Sql, columns: Sequence[tuple[str, Sql]]) -> tuple[Sql, Sql, int] | None:
        """The rows of a source counted in codes; None where templates are to do that.

        By columns of text, each with its internal name. First the relation of
        `counted/dictionaries.sql`, then that of `counted/combinations.sql` and how many these are.
        """
        return None

    def alike(self, source: Sql) -> tuple[Sql, Sql] | None:
        """The distinct rows of a source, and the column with their counts.

        None if counting rows one by one is as fast.
        """
        return None

    @abstractmethod
    def columns(self, relation: Sql) -> dict[str, str]:
        """The columns of a relation and their kinds: text, integer, number, boolean, date or other."""

    @abstractmethod
    def create(self, query: Query, *, view: bool = False) -> Sql:
        """A temporary relation with the result of the query."""

    def filled(self, query: Query) -> tuple[Sql, int]:
        """A temporary relation with the result of the query, and its number of rows."""
        made = self.create(query)
        (found,) = self.fetch(Query(f"select count(*) as n_rows from {made}", query.origin))
        return made, found["n_rows"]

    def first(self, relation: Sql, columns: Sequence[str], most: int) -> Sql:
        """Some columns of the rows that a relation gives first, as a view; others may come next time."""
        shown = ", ".join(map(quote, columns))
        return self.create(Query(f"select {shown} from {relation} limit {most}", "first rows"), view=True)

    def rows_of(self, query: Query) -> Sql:
        """The rows that a query would publish, as a view on the engine that writes them."""
        return self.create(query, view=True)

    def repeated(self, counted: Sql, columns: Sequence[str], n: Sql) -> Query | None:
        """The rows of a relation, each repeated by its count, in order; None if the order would be lost."""
        return None

    def added_digits(self, hashes: Query) -> Query | None:
        """What `counted/fingerprint.sql` makes of hashes; None where an engine has nothing faster.

        The numbers that each four digits of all hashes add up to, where text of 32 digits is a number.
        """
        return None

    @abstractmethod
    def load(self, columns: Columns, origin: str) -> Sql:
        """A small table of ours as a temporary relation: {name: (type, values)}."""

    def load_whole_numbers(self, columns: WholeNumbers, origin: str) -> Sql:
        """The same for any number of whole numbers: {name: array}."""
        return self.load({name: ("bigint", column.tolist()) for name, column in columns.items()}, origin)

    @abstractmethod
    def fetch(self, query: Query) -> list[Row]:
        """A small result as plain values; integers stay integers."""

    @abstractmethod
    def arrays(self, query: Query) -> dict[str, np.ndarray[Any, Any]]:
        """A result of numbers as numpy arrays."""

    @abstractmethod
    def arrow(self, query: Query) -> pa.Table:
        """A result as an Arrow table, to copy it to another engine."""

    @abstractmethod
    def take(self, table: pa.Table, origin: str) -> Sql:
        """Load an Arrow table as a temporary relation."""

    @abstractmethod
    def beside(self) -> Engine:
        """A new engine of the same kind, to read written files again where they are."""

    @contextmanager
    def reader(self, files: Sequence[Path]) -> Iterator[Engine]:
        """An engine that reads these written files: a new one, unless this one was opened for them."""
        with self.beside() as beside:
            yield beside.session(files)

    @abstractmethod
    def drop(self, relation: Sql) -> None:
        """Drop a temporary relation early."""

    @abstractmethod
    def write_file(self, query: Query, path: Path, kind: str) -> None:
        """Write a query's rows to a new CSV or Parquet file that only this user can read."""

    @abstractmethod
    def write_table(self, query: Query, table: str) -> None:
        """Write a query's rows to a new table."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing: others see tables written inside only at the end."""

    @abstractmethod
    def rename_table(self, old: str, new: str) -> None:
        """Give a table its final name; both names are in one schema."""

    @abstractmethod
    def hold_table(self, table: str) -> None:
        """Keep others from writing to a table until `transaction` ends, if the engine can."""

    def replace_table(self, new: str, name: str, aside: str) -> None:
        """Replace a table with another one, inside `transaction`.

        Where that undoes nothing, the old one is kept `aside`. An engine that cannot hold a table refuses
        here, with the code `conflict`, what others have written to it since the transaction began.
        """
        if self.undoes:
            self.drop_table(name)
        elif self.has_table(name):
            self.rename_table(name, aside)
        self.rename_table(new, name)

    @abstractmethod
    def drop_table(self, table: str) -> None:
        """Remove a table written by `write_table`."""

    @abstractmethod
    def has_table(self, table: str) -> bool:
        """Whether a table of that name exists."""

    @abstractmethod
    def version(self) -> str:
        """Name and version, for manifests."""

    @abstractmethod
    def close(self) -> None:
        """Drop everything temporary and release the engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def connect(url: str | duckdb.DuckDBPyConnection = "duckdb:", **options: object) -> Engine:
    """Open an engine: `duckdb:` (embedded), `duckdb:file.db`, `postgres:`, `spark:local[2]`.

    It also takes an open DuckDB connection, which stays open and unchanged when the engine closes.

    >>> with connect() as engine:
    ...     engine.fetch(Query("select 1 as one"))
    [{'one': 1}]
    """
    if not isinstance(url, str):
        refuse_unspoken("duckdb")
        around: Engine = registry.get("engines", "duckdb").around(url, **options)
        return around
    scheme, colon, rest = url.partition(":")
    if not colon:
        raise UsageError("bad_url", "a connection must be written engine:place", hint=CONNECTIONS)
    part = registry.get("engines", scheme)
    if part.__module__.startswith("privacy_sql."):
        refuse_unspoken(scheme)
    engine: Engine = part(rest, **options)
    return engine


@cache
def keys_of(name: str) -> tuple[str, ...]:
    """The `keys` of an engine, read in its file: its library may be missing where a project only names it.

    >>> keys_of("postgres")
    ('dsn_env',)
    """
    place = Path(__file__).with_name(f"{name}.py")
    text = place.read_text(encoding="utf-8") if place.is_file() else ""
    for part in ast.parse(text).body:
        if isinstance(part, ast.ClassDef) and part.name.casefold() == registry.class_name(name).casefold():
            for line in part.body:
                if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "keys":
                    return tuple(ast.literal_eval(line.value))
    said: tuple[str, ...] = registry.get("engines", name).keys
    return said
