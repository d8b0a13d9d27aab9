{{ privacy_sql.group_risk(ref('candidate'), quasi=['Age', 'Zip code'], sensitive='illness') }}
