// The key / leads to the search, as in many lists. All else works without JavaScript.
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("q");
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "/" && search && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
