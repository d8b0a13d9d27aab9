-- The groups of a table and how far each one's mix of sensitive values is from everybody's, farthest first.
-- Groups and values are what a reader sees, as text.
-- from ps_t_closeness('adult', ['age', 'sex'], 'occupation')
create or replace macro ps_t_closeness(relation, quasi, sensitive) as table
    with shown as (
        select ps_shown(columns(*))
        from query_table(relation)
    ),
    keyed as (
        select row(*columns(ps_known(quasi, (*)))) as ps_group, columns(ps_known([sensitive], (*))) as ps_value
        from shown
    ),
    histogram as (
        select ps_group, ps_value, count(*) as ps_n
        from keyed
        group by ps_group, ps_value
    ),
    shares as (
        select
            ps_group,
            ps_n / sum(ps_n) over (partition by ps_group) as ps_share,
            sum(ps_n) over (partition by ps_value) / sum(ps_n) over () as ps_overall
        from histogram
    )
    select
        ps_group,
        -- a value absent from the group adds as much as all present ones together take away
        sum(greatest(ps_share - ps_overall, 0)) as distance
    from shares
    group by ps_group
    order by distance desc;
