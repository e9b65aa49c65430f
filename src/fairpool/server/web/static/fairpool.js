// What pages do beyond links and forms. They work without it, but for uploads and live progress.
"use strict";

const token = () => document.querySelector('meta[name="form-token"]')?.content ?? "";

// Times are sent in UTC, and shown by the viewer's own clock.
function localTimes(root) {
  const now = new Date();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const options = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
    if (moment.getFullYear() !== now.getFullYear()) options.year = "numeric";
    element.textContent = moment.toLocaleString("en-GB", options);
    element.title = moment.toLocaleString("en-GB", { dateStyle: "full", timeStyle: "long" });
  }
}

function textOf(element) {
  return "value" in element ? element.value : element.textContent;
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const before = button.dataset.before ?? (button.dataset.before = button.textContent);
  try {
    await navigator.clipboard.writeText(textOf(source));
    button.textContent = "Copied";
  } catch {
    // No clipboard without TLS: what is to be copied is marked instead.
    if ("select" in source) source.select();
    else getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = before; }, 3000);
}

// A job tells its progress by server-sent events; when it ends, the page is asked for anew.
function follow(section) {
  const stage = section.querySelector("[data-job-stage]");
  const bar = section.querySelector("[data-job-bar]");
  const events = new EventSource(section.dataset.job);
  const tell = (event) => {
    const job = JSON.parse(event.data);
    const text = job.stage || "Waiting for a worker";
    if (stage.textContent !== text) stage.textContent = text;
    if (job.total) { bar.max = job.total; bar.value = job.done; } else bar.removeAttribute("value");
    if (job.state !== "queued" && job.state !== "running") { events.close(); location.reload(); }
  };
  events.addEventListener("job", tell);
}

// A file dropped onto a field of text becomes its text.
function takeText(field) {
  const area = field.querySelector("textarea");
  field.addEventListener("dragover", (event) => event.preventDefault());
  field.addEventListener("drop", async (event) => {
    const file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    area.value = await file.text();
    area.focus();
  });
}

function ready(root) {
  localTimes(root);
  root.querySelectorAll("[data-job]").forEach(follow);
  root.querySelectorAll("[data-text-drop]").forEach(takeText);
  // On a phone the tabs are wider than the page: the one that is open is in view.
  for (const tab of root.querySelectorAll(".tabs [aria-current]")) {
    const row = tab.parentElement;
    row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }
}

document.addEventListener("DOMContentLoaded", () => {
  ready(document);
  document.querySelector("[data-focus]")?.focus();
  // What was done is said once, and not again when the page is loaded anew.
  const here = new URL(location.href);
  if (here.searchParams.has("said")) {
    here.searchParams.delete("said");
    history.replaceState(null, "", here);
  }
});
document.addEventListener("htmx:afterSwap", (event) => localTimes(event.detail.target.parentElement ?? document));
// Nothing is loaded anew below somebody's hands.
document.addEventListener("htmx:beforeRequest", (event) => {
  const isTyping = document.activeElement?.matches("input:not([type=file]), textarea, select") ?? false;
  if ("busy" in document.body.dataset || isTyping || document.hidden) event.preventDefault();
});
document.addEventListener("htmx:configRequest", (event) => { event.detail.headers["X-Form-Token"] = token(); });
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  const menu = document.querySelector(".menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
});
document.addEventListener("focusin", (event) => {
  if (event.target.matches("[data-select]")) event.target.select();
});
document.addEventListener("keydown", (event) => {
  const menu = document.querySelector(".menu[open]");
  if (event.key === "Escape" && menu) { menu.open = false; menu.querySelector("summary").focus(); }
});
// A form is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.dataset.upload) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
