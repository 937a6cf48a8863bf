// Before anything is drawn: the theme that was chosen, so that a dark screen does not flash white.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("primer.theme");
  } catch (error) {
    // Storage is switched off: the system's theme is right.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
