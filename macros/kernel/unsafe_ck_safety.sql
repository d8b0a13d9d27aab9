{#
Groups in which somebody with the k most useful implications guesses right with a chance of c or more, or nearer to c
than 1e-9; see criteria/ck_safety. For k = 0, 1 or 2.

martin2007, Sec. 3.3: one of k + 1 atoms is the guess, the most common value of the adversary's group; the least chance
that all atoms fail, over the chance of the guess, is the odds against it. Per group the partitions of 1, 2 and 3 atoms
over people are written out. The other atoms may be in any group: it need not be another one, since two atoms in one
group never fail more often than if they were independent.
out: g, n_rows, risk (the maximum disclosure)    grain: unsafe group
#}
{% macro unsafe_ck_safety(relation, quasi, sensitive, c, k) %}
with histogram as (
    {{ privacy_sql.group_histogram(relation, quasi, sensitive) }}
),
placed as (
    select
        g,
        n_rows,
        row_number() over (partition by g order by n_rows desc) as place
    from histogram
),
counted as (
    select
        g,
        cast(sum(n_rows) as {{ privacy_sql.double() }}) as n,
        cast(max(n_rows) as {{ privacy_sql.double() }}) as n_top,
        cast(sum(case when place > 1 then n_rows else 0 end) as {{ privacy_sql.double() }}) as outside_one,
        cast(sum(case when place > 2 then n_rows else 0 end) as {{ privacy_sql.double() }}) as outside_two,
        cast(sum(case when place > 3 then n_rows else 0 end) as {{ privacy_sql.double() }}) as outside_three
    from placed
    group by g
),
-- the chance that the second and the third person do not have the most common value, when those before do not
others as (
    select
        g,
        n,
        n_top / cast(n as {{ privacy_sql.double() }}) as guess,
        outside_one / cast(n as {{ privacy_sql.double() }}) as one,
        outside_two / cast(n as {{ privacy_sql.double() }}) as two,
        outside_three / cast(n as {{ privacy_sql.double() }}) as three,
        greatest(outside_one - 1, 0) / cast(greatest(n - 1, 1) as {{ privacy_sql.double() }}) as second_person,
        greatest(outside_one - 2, 0) / cast(greatest(n - 2, 1) as {{ privacy_sql.double() }}) as third_person
    from counted
),
chances as (
    select
        g,
        n,
        guess,
        one,
        least(two, one * second_person) as two,
        least(three, two * second_person, one * second_person * third_person) as three
    from others
),
odds as (
    select
        g,
        n,
        {% if k == 0 %}
        one / cast(guess as {{ privacy_sql.double() }}) as against
        {% elif k == 1 %}
        least(two, one * min(one) over ()) / cast(guess as {{ privacy_sql.double() }}) as against
        {% elif k == 2 %}
        least(three, two * min(one) over (), one * min(two) over ()) / cast(guess as {{ privacy_sql.double() }}) as against
        {% else %}
        {{ privacy_sql.refuse("ck_safe", "SQL decides k = 0, 1 and 2") }}
        {% endif %}
    from chances
),
disclosed as (
    select
        g,
        cast(n as bigint) as n_rows,
        {{ privacy_sql.decimal(1) }} / (1 + against) as risk
    from odds
)
select
    g,
    n_rows,
    risk
from disclosed
where risk >= {{ privacy_sql.decimal(c) }} - {{ privacy_sql.decimal("1e-9") }}
{% endmacro %}
