// Send the theme of the site to embedded timelines, when they load and when it changes.
(() => {
  const theme = () => document.body.getAttribute("data-md-color-scheme") === "slate" ? "dark" : "light";
  const send = frame => frame.contentWindow?.postMessage({ "fakempi-theme": theme() }, "*");
  const frames = [...document.querySelectorAll("iframe.timeline")];
  for (const frame of frames) {
    frame.addEventListener("load", () => send(frame));
    send(frame);
  }
  new MutationObserver(() => frames.forEach(send)).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
})();
