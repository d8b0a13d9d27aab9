"use strict";
(function () {
  var report = JSON.parse(document.getElementById("report-data").textContent);
  var root = document.documentElement;
  var config = {displayModeBar: false, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", showLink: false,
                responsive: true, doubleClick: false, scrollZoom: false};
  root.classList.add("js");

  function skyline() {
    var data = report.skyline;
    if (!data) { return; }
    var value = document.getElementById("skyline-value"), limit = document.getElementById("skyline-limit");
    var shown = document.getElementById("skyline-shown"), summary = document.getElementById("skyline-summary");
    var stairs = document.getElementById("skyline-stairs"), details = document.getElementById("skyline-3d");
    var panels = document.querySelectorAll("#skyline-panels tbody");

    function breach(l, k, m) { return data.values[value.value].breach[l][k][m]; }
    function safe(l, k, m) { return breach(l, k, m) < 100 * limit.value; }
    function edge(l, k, m) { return safe(l, k, m) && !safe(l + 1, k, m) && !safe(l, k + 1, m) && !safe(l, k, m + 1); }
    function required(l, k, m) {
      return data.required.some(function (p) { return p[0] === l && p[1] === k && p[2] === m; });
    }

    function draw() {
      var points = [];
      panels.forEach(function (body, l) {
        Array.from(body.rows).forEach(function (row, place) {
          var m = data.shown[2] - 1 - place;
          for (var k = 0; k < data.shown[1]; k++) {
            var cell = row.cells[k + 1], corner = edge(l, k, m);
            cell.textContent = Math.floor(breach(l, k, m) / 100);
            cell.className = (safe(l, k, m) ? "" : "unsafe") + (corner ? " edge" : "") + (required(l, k, m) ? " required" : "");
            if (corner) { points.push([l, k, m]); }
          }
        });
      });
      points.sort(function (a, b) { return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]; });
      shown.textContent = limit.value + " %";
      summary.textContent = words();
      if (details && details.open) { staircase(points); }
      return points;
    }

    function words() {
      var label = data.values[value.value].label;
      if (!safe(0, 0, 0)) { return label + ": at " + limit.value + " % it is not safe even when nothing more is known."; }
      function alone(kind) {
        var end = data.shown[kind], at = [0, 0, 0];
        for (at[kind] = 1; at[kind] <= end; at[kind]++) {
          if (!safe(at[0], at[1], at[2])) { return at[kind] - 1; }
        }
        return end;
      }
      function many(kind, one, more) { var n = alone(kind); return n + " " + (n === 1 ? one : more); }
      return label + " stays below " + limit.value + " % for somebody who rules out " + many(0, "other value", "other values")
        + ", or who knows " + many(1, "other person", "other people") + ", or who knows "
        + many(2, "family member", "family members") + ", each by itself.";
    }

    // one flat step per cell that stays below the limit, at the height of the values ruled out
    function steps() {
      var mesh = {x: [], y: [], z: [], i: [], j: [], k: [], level: []};
      for (var l = 0; l < data.shown[0]; l++) {
        for (var k = 0; k < data.shown[1]; k++) {
          var most = 0;
          while (most < data.shown[2] && safe(l, k, most)) { most++; }
          if (most) {
            var at = mesh.x.length;
            mesh.x.push(k, k + 1, k + 1, k); mesh.y.push(0, 0, most, most); mesh.z.push(l, l, l, l);
            mesh.i.push(at, at); mesh.j.push(at + 1, at + 2); mesh.k.push(at + 2, at + 3);
            mesh.level.push(l, l, l, l);
          }
        }
      }
      return {type: "mesh3d", x: mesh.x, y: mesh.y, z: mesh.z, i: mesh.i, j: mesh.j, k: mesh.k, intensity: mesh.level,
              cmin: 0, cmax: data.shown[0] - 1, colorscale: [[0, "#cfe6ee"], [1, "#0b6a8f"]], showscale: false, opacity: 0.55,
              flatshading: true, hoverinfo: "skip", lighting: {ambient: 1, diffuse: 0}};
    }

    // the rim of each step, so that the stairs can be told without colour
    function rim(l) {
      var x = [], y = [];
      for (var k = 0; k < data.shown[1]; k++) {
        var most = 0;
        while (most < data.shown[2] && safe(l, k, most)) { most++; }
        if (most) { x.push(k, k + 1); y.push(most, most); }
      }
      if (x.length) { x.push(x[x.length - 1]); y.push(0); }
      return {type: "scatter3d", mode: "lines", x: x, y: y, z: x.map(function () { return l; }), hoverinfo: "skip",
              line: {color: "#0b3a4d", width: 4}, showlegend: false, name: "rules out " + l};
    }

    function marks(name, points, marker) {
      function middle(i) { return points.map(function (p) { return p[i] + 0.5; }); }
      return {type: "scatter3d", mode: "markers", name: name, showlegend: false, marker: marker,
              x: middle(1), y: middle(2), z: points.map(function (p) { return p[0]; }),
              text: points.map(function (p) { return name + ": rules out " + p[0] + ", knows " + p[1] + ", family " + p[2]; }),
              hovertemplate: "%{text}<extra></extra>"};
    }

    function staircase(points) {
      var traces = [steps()];
      for (var l = 0; l < data.shown[0]; l++) { traces.push(rim(l)); }
      traces.push(marks("skyline", points, {size: 5, color: "#fff", line: {color: "#0b3a4d", width: 2}}));
      traces.push(marks("required", data.required, {size: 6, symbol: "square", color: "#b93a0a"}));
      function axis(title, end, step) { return {title: {text: title}, range: [0, end], dtick: step, autorange: false}; }
      var layout = {height: 520, margin: {l: 0, r: 0, t: 0, b: 0}, uirevision: "kept",
        font: {family: "system-ui, sans-serif", size: 12}, paper_bgcolor: "rgba(0,0,0,0)",
        scene: {camera: {eye: {x: 1.35, y: -1.55, z: 0.95}, center: {x: 0, y: 0, z: -0.12}}, aspectmode: "manual",
                aspectratio: {x: 1.25, y: 0.8, z: 0.75},
                xaxis: axis("other people known (k)", data.shown[1], 4), yaxis: axis("family (m)", data.shown[2], 2),
                zaxis: axis("values ruled out (ℓ)", data.shown[0] - 0.5, 1)}};
      try {
        Plotly.react(stairs, traces, layout, config);
      } catch (problem) {
        document.getElementById("skyline-no3d").hidden = false;
      }
    }

    value.addEventListener("change", draw);
    limit.addEventListener("input", draw);
    if (details) { details.addEventListener("toggle", draw); }
    document.getElementById("skyline-controls").addEventListener("submit", function (event) { event.preventDefault(); });
    draw();
  }

  skyline();
})();
