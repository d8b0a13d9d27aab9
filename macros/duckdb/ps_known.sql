-- The requested columns, inside columns(), where (*) lists the existing ones. A missing one is an error that names the
-- most similar: text that cannot be cast, since error() is not allowed inside columns(). A name that slipped through
-- here would still be refused by columns().
-- select columns(ps_known(['age', 'sex'], (*))) from adult
create or replace macro ps_known(wanted, known) as coalesce(
    cast(list_transform(
        list_filter(wanted, lambda name: len(list_filter(known, lambda other: ps_alike(name, other) = 1)) = 0),
        lambda name: concat(
            'there is no column "', name, '"',
            '; did you mean "' || list_filter(
                [list_reduce(known, lambda best, other: if(ps_alike(name, other) > ps_alike(name, best), other, best))],
                lambda nearest: ps_alike(name, nearest) > 0.2
            )[1] || '"?'
        )
    )[1] as varchar[]),
    wanted
);
