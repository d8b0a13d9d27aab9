"""What dbt is asked: guards that fail, pass or do not compile, and projects whose releases become models."""

from __future__ import annotations

MATRIX = '{"flu": {"flu": 0, "cold": 1, "cancer": 2}, "cold": {"flu": 1, "cold": 0, "cancer": 1},' + (
    ' "cancer": {"flu": 2, "cold": 1, "cancer": 0}}'
)
WHO = '"sensitive": "illness", "quasi": ["Age", "Zip code"]'
FAILING = {
    "k": 'k_anonymous: {"quasi": ["Age", "Zip code"], "k": 4}',
    "l": f'l_diverse: {{{WHO}, "l": 4}}',
    "share": f'l_diverse: {{{WHO}, "l": 2, "kind": "probabilistic"}}',
    "entropy": f'l_diverse: {{{WHO}, "l": 2, "kind": "entropy"}}',
    "recursive": f'l_diverse: {{{WHO}, "l": 2, "kind": "recursive", "c": 2}}',
    "t": f't_close: {{{WHO}, "t": 0.1}}',
    # the distance is 1/6, just below this limit but nearer than 1e-9
    "at_the_limit": f't_close: {{{WHO}, "t": 0.1666666667}}',
    "no_number": f't_close: {{{WHO}, "t": 0.9, "distance": "ordered"}}',
    "outside": f't_close: {{{WHO}, "t": 0.9, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["f"]}}}',
    "near_no_number": f'near_safe: {{{WHO}, "width": 1, "share": 0.9}}',
    "near_by_ratio": f'near_safe: {{{WHO}, "width": 1, "share": 0.9, "distance": "relative"}}',
    "near_outside": f'near_safe: {{{WHO}, "width": 0, "share": 0.9, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["f"]}}}',
    "near_in_a_tree": f'near_safe: {{{WHO}, "width": 0.5, "share": 0.9, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["i", "*"], "cold": ["i", "*"], "cancer": ["i", "*"]}}}',
    "near_in_a_matrix": f'near_safe: {{{WHO}, "width": 1, "share": 0.9, "distance": "matrix",'
    f' "matrix": {MATRIX}}}',
    "two_known": 'known_safe: {"quasi": ["Age", "Zip code"], "m": 2, "k": 4}',
    "one_share": f'known_safe: {{{WHO}, "m": 1, "share": 0.3}}',
    "one_set": f'known_safe: {{{WHO}, "sets": [{{"columns": ["Age"], "k": 2}},'
    ' {"columns": ["Zip code"], "k": 40}]}',
    "mean_risk": 'risk_safe: {"quasi": ["Age", "Zip code"], "at_most": 0.333333}',
    "risk_above": 'risk_safe: {"quasi": ["Age", "Zip code"], "at_most": 0.9, "measure": "above",'
    ' "above": 0.3}',
    "c": f'ck_safe: {{{WHO}, "c": 0.6}}',
    # 2 of 3 share a value, so one fact more is certainty
    "one_fact": f'ck_safe: {{{WHO}, "c": 0.99, "k": 1}}',
    "two_facts": f'ck_safe: {{{WHO}, "c": 0.99, "k": 2}}',
    "two_thirds": f'ck_safe: {{{WHO}, "c": 0.6666666667}}',
    "skyline": f'skyline_safe: {{{WHO}, "points": [[0, 1, 0, 0.99]]}}',
    "one_value": f'skyline_safe: {{{WHO}, "per_value": {{"cancer": [[2, 0, 0, 0.9]]}}}}',
    # a value that is not there may be misspelt
    "absent_value": f'skyline_safe: {{{WHO}, "per_value": {{"cancerr": [[0, 0, 0, 1]]}}}}',
    "other_case": f'skyline_safe: {{{WHO}, "per_value": {{"Cancer": [[0, 0, 0, 1]]}}}}',
}
# no column of the model, although an engine knows something of that name: a row's number, the row as a whole
NO_COLUMN = ("rowid", "ctid", "tableoid", "candidate", "g", "s", "n_rows")
# a letter doubled, swapped, missing, another; a space missing
TYPOS = {"Agee": "Age", "Aeg": "Age", "Ag": "Age", "Zib code": "Zip code", "Zipcode": "Zip code"}
MARKS = '"n_rows": 3, "checksum": [1, 2, 3, 4, 5, 6, 7, 8]'
TYPO = '"sensitive": "ilness", "quasi": ["Age"]'
# each kind of test with a misspelt column
MISNAMING = {
    "k_anonymous": '"quasi": ["ilness"], "k": 1',
    "l_diverse": f'{TYPO}, "l": 1',
    "t_close": f'{TYPO}, "t": 1',
    "near_safe": f'{TYPO}, "width": 1, "share": 0.9',
    "known_safe": f'{TYPO}, "m": 1, "share": 0.9',
    "risk_safe": '"quasi": ["ilness"], "at_most": 0.9',
    "ck_safe": f'{TYPO}, "c": 1',
    "skyline_safe": f'{TYPO}, "points": [[0, 0, 0, 1]]',
    "matches_manifest": f'"columns": ["ilness"], {MARKS}',
}
# tests that are errors, and what each says
MISSPELT = {
    **{
        f"no_quasi_{name}": (
            f'k_anonymous: {{"quasi": ["{name}"], "k": 1}}',
            f'there is no column "{name}"\n',
        )
        for name in NO_COLUMN
    },
    **{
        f"no_sensitive_{name}": (
            f'l_diverse: {{"sensitive": "{name}", "quasi": ["Age"], "l": 1}}',
            f'there is no column "{name}"\n',
        )
        for name in NO_COLUMN
    },
    **{
        f"typo_{name.replace(' ', '_')}": (
            f'k_anonymous: {{"quasi": ["{name}"], "k": 1}}',
            f'there is no column "{name}"; did you mean "{nearest}"?',
        )
        for name, nearest in TYPOS.items()
    },
    **{
        f"misnaming_{kind}": (
            f"{kind}: {{{words}}}",
            f'{kind}: there is no column "ilness"; did you mean "illness"?',
        )
        for kind, words in MISNAMING.items()
    },
    # the column is one of the other relation
    "misnaming_covered": (
        'covered: {"of": "ref(\'weights\')", "person": "weigth"}',
        'covered: there is no column "weigth"; did you mean "weight"?',
    ),
    # the rows are a subquery here, so the engine says it
    "typo_where": (
        'k_anonymous: {"quasi": ["ilness"], "k": 1}\n          config: {"where": "1 = 1"}',
        'column "ilness"',
    ),
    "not_all_rows": (
        f'matches_manifest: {{"columns": ["A"], {MARKS}}}\n          config: {{"where": "1 = 0"}}',
        "leave rows unseen",
    ),
}
# the same on a model whose columns dbt cannot tell, and what it is
EPHEMERAL = "{{ config(materialized='ephemeral') }} select * from {{ ref('patients') }}"
WEIGHTS = "select 70 as weight"
EPHEMERAL_MISSPELT = {"ephemeral_typo": 'k_anonymous: {"quasi": ["ilness"], "k": 1}'}
EPHEMERAL_PASSING = {"ephemeral_k": 'k_anonymous: {"quasi": ["illness"], "k": 1}'}
OTHER_CASE = {"other_case": 'k_anonymous: {"quasi": ["age"], "k": 1}'}
MISNAMED = {
    "misnamed_risk": "{{ privacy_sql.group_risk(ref('patients'), ['Age'], 'ilness') }}",
    "misnamed_rows": "{{ privacy_sql.generalise(ref('patients'), {'ilness': 'keep_or_drop'}) }}",
}
PASSING = {
    "loose": f'ck_safe: {{{WHO}, "c": 0.67}}',
    "tree": f't_close: {{{WHO}, "t": 0.2, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["*"], "cold": ["*"], "cancer": ["*"]}}}',
    "far_in_a_tree": f'near_safe: {{{WHO}, "width": 0.4, "share": 0.9, "distance": "hierarchical",'
    ' "hierarchy": {"tree": {"flu": ["i", "*"], "cold": ["i", "*"], "cancer": ["i", "*"]}}}',
    "far_in_a_matrix": f'near_safe: {{{WHO}, "width": 0.5, "share": 0.9, "distance": "matrix",'
    f' "matrix": {MATRIX}}}',
    "few_known": f'known_safe: {{{WHO}, "m": 5, "k": 3, "share": 0.9}}',
    "own_sets": f'known_safe: {{{WHO}, "sets": [{{"columns": ["Age"], "k": 3}},'
    ' {"columns": ["Zip code"], "share": 0.9}]}',
    "low_mean_risk": 'risk_safe: {"quasi": ["Age", "Zip code"], "at_most": 0.333334}',
    "no_risk_above": 'risk_safe: {"quasi": ["Age"], "at_most": 0, "measure": "above", "above": 0.333334}',
    "where": 'k_anonymous: {"quasi": ["Age"], "k": 3}\n          config: {"where": "1 = 1"}',
    "own": f'skyline_safe: {{{WHO}, "points": [[0, 0, 0, 0.7]],'
    ' "per_value": {"cancer": [[0, 1, 0, 0.6]]}}',
}
TREE = '{"tree": {"flu": ["f"], "cold": ["c"]}}'
OF = '"of": "ref(\'patients\')"'
COVERING = {
    "covers": f'covered: {{{OF}, "quasi": {{"Age": {{"intervals": [10]}}, "illness": "keep_or_drop"}},'
    ' "not_null": ["illness"], "person": "Age"}',
    "covers_some": f'covered: {{{OF}, "quasi": {{"illness": {TREE}}},'
    ' "condition": "\\"illness\\" <> \'cancer\'"}',
}
NOT_COVERING = {
    "outside_tree": f'covered: {{{OF}, "quasi": {{"illness": {TREE}}}}}',
    "no_dates": f'covered: {{{OF}, "quasi": {{"Age": {{"dates": ["year"]}}}}}}',
    "several_rows": f'covered: {{{OF}, "person": "illness"}}',
    "a_null": 'covered: {"of": "ref(\'odd\')", "not_null": ["ill"]}',
    "nobody": 'covered: {"of": "ref(\'empty\')", "person": "Age"}',
}
# rows that an engine and a reader see differently
ODD = """
select 'a' as g, cast('-0' as double precision) as zero, cast('NaN' as double precision) as nan, 'x' as ill
union all select 'a', cast('-0' as double precision), 2, null
union all select 'b', cast('0' as double precision), 3, 'x'
union all select 'b', cast('0' as double precision), 4, null
"""
ODD_FAILING = {
    "zeros": 't_close: {"sensitive": "zero", "quasi": ["g"], "t": 0.4}',
    "equal_zeros": 'l_diverse: {"sensitive": "zero", "quasi": ["nan"], "l": 1}',
    "nan": 't_close: {"sensitive": "nan", "quasi": ["g"], "t": 1, "distance": "ordered"}',
    "null_is_one_value": 'l_diverse: {"sensitive": "ill", "quasi": ["g"], "l": 3}',
    "null_is_no_number": 't_close: {"sensitive": "ill", "quasi": ["g"], "t": 1, "distance": "ordered"}',
    "null_apart": 'k_anonymous: {"quasi": ["ill", "g"], "k": 2}',
}
# one value outside its hierarchy
OUTSIDE = """
{{ privacy_sql.generalise(ref('patients'), levels={'illness': 1}, sensitive='Zip code',
    quasi={'illness': {'tree': {'flu': ['f'], 'cold': ['c']}}, 'Age': 'keep_or_drop'}) }}
"""
ODD_PASSING = {"null_together": 'l_diverse: {"sensitive": "ill", "quasi": ["g"], "l": 2}'}

MARKED = f'"columns": ["Age"], {MARKS}'
REFUSED = {
    "larger k is for Python": (f'ck_safe: {{{WHO}, "c": 0.9, "k": 3}}', "matches_manifest"),
    "k of ck_safe as text": (f'ck_safe: {{{WHO}, "c": 0.9, "k": "1"}}', "matches_manifest"),
    "c above 1": (f'ck_safe: {{{WHO}, "c": 1.5}}', "at most 1"),
    "c is no number": (f'ck_safe: {{{WHO}, "c": "high"}}', "at most 1"),
    "c is NaN": (f'ck_safe: {{{WHO}, "c": .nan}}', "at most 1"),
    "k of 0": ('k_anonymous: {"quasi": ["Age"], "k": 0}', "at least 1"),
    "k as text": ('k_anonymous: {"quasi": ["Age"], "k": "5"}', "whole number"),
    "k with a fraction": ('k_anonymous: {"quasi": ["Age"], "k": 1.5}', "whole number"),
    "k is yes": ('k_anonymous: {"quasi": ["Age"], "k": true}', "whole number"),
    "no column": ('k_anonymous: {"quasi": [], "k": 1}', "at least one name"),
    "a name for a list": ('k_anonymous: {"quasi": "Age", "k": 1}', "a list"),
    "a number for a name": ('k_anonymous: {"quasi": [1], "k": 1}', "a list"),
    "a name of ours": ('k_anonymous: {"quasi": ["ps_model"], "k": 1}', "reserved names"),
    "a name of the groups": ('k_anonymous: {"quasi": ["PS_Group"], "k": 1}', "reserved names"),
    "a quote in a name": ('k_anonymous: {"quasi": ["a\\", \\"b"], "k": 1}', "a quote in it"),
    "misspelt parameter": ('k_anonymous: {"quasi": ["Age"], "k": 1, "kk": 9}', "kk"),
    "two sensitive columns": ('l_diverse: {"sensitive": ["a", "b"], "quasi": ["Age"], "l": 1}', "one column"),
    "sensitive and quasi": ('l_diverse: {"sensitive": "Age", "quasi": ["Age"], "l": 1}', "none of quasi"),
    "l of 0": (f'l_diverse: {{{WHO}, "l": 0}}', "at least 1"),
    "misspelt kind": (f'l_diverse: {{{WHO}, "l": 2, "kind": "entropi"}}', "kind is"),
    "c without recursive": (f'l_diverse: {{{WHO}, "l": 2, "c": 2}}', "recursive"),
    "recursive without c": (f'l_diverse: {{{WHO}, "l": 2, "kind": "recursive"}}', "recursive"),
    "c without end": (f'l_diverse: {{{WHO}, "l": 2, "kind": "recursive", "c": .inf}}', "above 0"),
    "t above 1": (f't_close: {{{WHO}, "t": 2}}', "0 to 1"),
    "risk of 1": ('risk_safe: {"quasi": ["Age"], "at_most": 1}', "between 0 and 1"),
    "mean risk of 0": ('risk_safe: {"quasi": ["Age"], "at_most": 0}', "between 0 and 1"),
    "risk of a third": ('risk_safe: {"quasi": ["Age"], "at_most": 0.3333333}', "6 decimals"),
    "largest risk": (
        'risk_safe: {"quasi": ["Age"], "at_most": 0.5, "measure": "maximum"}',
        "average or above",
    ),
    "above without measure": (
        'risk_safe: {"quasi": ["Age"], "at_most": 0.5, "above": 0.2}',
        "only measure: above takes",
    ),
    "measure without above": (
        'risk_safe: {"quasi": ["Age"], "at_most": 0.5, "measure": "above"}',
        "only measure: above takes",
    ),
    "width below 0": (f'near_safe: {{{WHO}, "width": -1, "share": 0.5}}', "at least 0"),
    "share of 1": (f'near_safe: {{{WHO}, "width": 1, "share": 1}}', "between 0 and 1"),
    "share of many decimals": (f'near_safe: {{{WHO}, "width": 1, "share": 0.1234567}}', "6 decimals"),
    "width above the height": (
        f'near_safe: {{{WHO}, "width": 2, "share": 0.5, "distance": "hierarchical",'
        ' "hierarchy": "keep_or_drop"}',
        "at most 1",
    ),
    "a matrix that is not the same both ways": (
        f'near_safe: {{{WHO}, "width": 1, "share": 0.5, "distance": "matrix",'
        ' "matrix": {"a": {"a": 0, "b": 1}, "b": {"a": 2, "b": 0}}}',
        "both ways",
    ),
    "a torn matrix": (
        f'near_safe: {{{WHO}, "width": 1, "share": 0.5, "distance": "matrix",'
        ' "matrix": {"a": {"b": 0}}}',
        "every two values",
    ),
    "matrix without one": (
        f'near_safe: {{{WHO}, "width": 1, "share": 0.5, "distance": "matrix"}}',
        "only distance: matrix takes",
    ),
    "near by no such distance": (
        f'near_safe: {{{WHO}, "width": 1, "share": 0.5, "distance": "ordered"}}',
        "distance is",
    ),
    "nothing is known": ('known_safe: {"quasi": ["Age"]}', "either m or sets"),
    "m and sets": (
        'known_safe: {"quasi": ["Age"], "m": 1, "sets": [{"columns": ["Age"], "k": 2}]}',
        "either m or sets",
    ),
    "m of 0": ('known_safe: {"quasi": ["Age"], "m": 0, "k": 2}', "at least 1"),
    "known and nothing asked": ('known_safe: {"quasi": ["Age"], "m": 1}', "nothing is required"),
    "a share of nothing": ('known_safe: {"quasi": ["Age"], "m": 1, "share": 0.5}', "sensitive column"),
    "a set of other columns": (
        'known_safe: {"quasi": ["Age"], "sets": [{"columns": ["illness"], "k": 2}]}',
        "columns of quasi",
    ),
    "a set of a column twice": (
        'known_safe: {"quasi": ["Age"], "sets": [{"columns": ["Age", "Age"], "k": 2}]}',
        "each once",
    ),
    "a misspelt set": ('known_safe: {"quasi": ["Age"], "sets": [{"column": ["Age"], "k": 2}]}', "a set has"),
    "too many sets": (
        f'known_safe: {{"quasi": ["Age"], "sets": [{", ".join(["{}"] * 101)}]}}',
        "more than 100 sets",
    ),
    "t is nothing": (f't_close: {{{WHO}, "t": ""}}', "0 to 1"),
    "misspelt distance": (f't_close: {{{WHO}, "t": 1, "distance": "order"}}', "distance is"),
    "hierarchical without one": (
        f't_close: {{{WHO}, "t": 1, "distance": "hierarchical"}}',
        "only distance: hierarchical takes",
    ),
    "misspelt hierarchy": (
        f't_close: {{{WHO}, "t": 1, "distance": "hierarchical", "hierarchy": {{"trees": {{}}}}}}',
        "one of intervals",
    ),
    "torn tree": (
        f't_close: {{{WHO}, "t": 1, "distance": "hierarchical",'
        ' "hierarchy": {"tree": {"a": ["x", "y"], "b": ["x", "z"]}}}',
        "two different parents",
    ),
    "ragged tree": (f'covered: {{{OF}, "quasi": {{"Age": {{"tree": {{"a": ["x"], "b": []}}}}}}}}', "as many"),
    "empty list of levels": (f'covered: {{{OF}, "quasi": {{"Age": {{"mask": []}}}}}}', "lists its levels"),
    "nothing to cover": (f"covered: {{{OF}}}", "at least one name"),
    "a point of three": (f'skyline_safe: {{{WHO}, "points": [[1, 1, 0.9]]}}', "a point is"),
    "a point as text": (f'skyline_safe: {{{WHO}, "points": [["0", "0", "0", 0.9]]}}', "a point is"),
    "a point below 0": (f'skyline_safe: {{{WHO}, "points": [[0, -1, 0, 0.9]]}}', "a point is"),
    "a large family": (f'skyline_safe: {{{WHO}, "points": [[0, 0, 51, 0.9]]}}', "a point is"),
    "no points": (f"skyline_safe: {{{WHO}}}", "missing"),
    "a value without points": (f'skyline_safe: {{{WHO}, "per_value": {{"flu": []}}}}', "no points"),
    "points for NULL alone": (f'skyline_safe: {{{WHO}, "per_value": {{null: [[0, 0, 0, 1]]}}}}', "NULL"),
    "seven marks": (f"matches_manifest: {{{MARKED}}}".replace(", 8", ""), "h1 to h8"),
    "marks as text": (
        f"matches_manifest: {{{MARKED}}}".replace("[1, 2, 3, 4, 5, 6, 7, 8]", '"12345678"'),
        "h1",
    ),
    "a mark is missing": (f"matches_manifest: {{{MARKED}}}".replace("8", "null"), "h1 to h8"),
    "no rows were judged": (
        f"matches_manifest: {{{MARKED}}}".replace('"n_rows": 3', '"n_rows": 0'),
        "n_rows",
    ),
}
MODELS = {
    "a level of no column": ("levels={'age': 1}", "not in quasi"),
    "a level as text": ("levels={'Age': '1'}", "a level is"),
    "a level below 0": ("levels={'Age': -1}", "a level is"),
    "a level above the top": ("levels={'Age': 3}", "a level is"),
    "a misspelt requirement": ("leave_out=[['k_anonymity', {'k': 2}]]", "leave_out knows"),
}

CLINIC = """
version: 1
name: clinic
releases:
  people:
    source: {file: people.csv}
    identifier: {column: id}
    quasi_identifiers:
      - {column: Age, hierarchy: {intervals: [10]}}
      - {column: town, hierarchy: {tree: {Oslo: [Norway], Bergen: [Norway], Rome: [Italy]}}}
    sensitive: {column: ill, nulls: refuse}
    require: {k_anonymity: {k: 2}, l_diversity: {l: 2}}
    method: {generalise: {levels: {Age: 1, town: 1}}}
    output: {target: out.csv}
"""
CLINIC_ROWS = "id,Age,town,ill\n1,20.5,Oslo,a\n2,21,Bergen,b\n3,33,Rome,a\n4,34,Rome,b\n"

WARD = """
version: 1
name: ward
connections: {{place: {connection}}}
releases:
  ward:
    source: {{connection: place, relation: {schema}.patients}}
    quasi_identifiers: [Age, half price]
    sensitive: {{column: ill}}
    insensitive: {{columns: [seen, "on", weight], acknowledge: four invented people}}
    require: {{k_anonymity: {{k: 2}}, ck_safety: {{c: 0.9, k: 0}}}}
    method: multidimensional
    output: {{connection: place, relation: {schema}.judged}}
"""
PATIENTS = """
create table {schema}.patients as
select 20 as "Age", true as "half price", '' as ill, date '2020-02-29' as seen,
    timestamp '2020-01-01 10:00:00.5' as "on", cast(1.50 as decimal(5, 2)) as weight
union all select 21, false, 'flu', null, null, null
union all select 40, true, null, date '2020-01-01', timestamp '2020-01-01 00:00:00', 0
union all select null, null, 'flu', null, null, -0.5
"""
