{#
A compiler error unless columns are a list of names, the sensitive one is a name that is not in the list, and the
relation has all of them. `ps_model` would mean a whole row of `picked`, `ps_group` and `ps_outside` are columns of
`generalise`; dbt does not double a quote inside a name.
#}
{% macro refuse_columns(test, relation, names, sensitive=none) %}
{{ privacy_sql.refuse_unless(
    names is not string and names is iterable and names | list and names | reject("string") | list == [],
    test, "columns are a list of at least one name"
) }}
{{ privacy_sql.refuse_unless(
    sensitive is none or sensitive is string and sensitive not in names,
    test, "sensitive is one column, and none of quasi"
) }}
{%- set all = names | list + ([] if sensitive is none else [sensitive]) -%}
{%- for name in all -%}
{{ privacy_sql.refuse_unless(
    name | lower not in ("ps_model", "ps_group", "ps_outside"),
    test, "ps_model, ps_group and ps_outside are reserved names; rename the column"
) }}
{{ privacy_sql.refuse_unless(
    '"' not in name and "`" not in name, test, "dbt cannot write a name with a quote in it; rename the column"
) }}
{%- endfor -%}
{{ privacy_sql.refuse_unknown(test, relation, all) }}
{% endmacro %}
