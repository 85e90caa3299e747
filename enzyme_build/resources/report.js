"use strict";
const filter = document.getElementById("filter");
const count = document.getElementById("count");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const finding of document.querySelectorAll(".finding")) {
    const text = finding.textContent.toLowerCase();
    finding.hidden = !words.every((word) => text.includes(word));
    shown += finding.hidden ? 0 : 1;
  }
  count.textContent = words.length ? `${shown} shown` : "";
});
const wanted = new URLSearchParams(location.search).get("find");
if (wanted) {
  filter.value = wanted;
  filter.dispatchEvent(new Event("input"));
}
