// Sending a file as it is, with progress: the body of the request is the file itself.
"use strict";

function asSentence(text) {
  const first = text.split(" ", 1)[0];
  const begun = /^[a-z]+$/.test(first) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

function upload(form) {
  const input = form.querySelector("input[type=file]");
  const progress = form.querySelector("[data-upload-progress]");
  const stage = form.querySelector("[data-upload-stage]");
  const bar = form.querySelector("[data-upload-bar]");
  const problem = form.querySelector("[data-upload-problem]");
  let request = null;

  const refuse = (texts) => {
    delete document.body.dataset.busy;
    progress.hidden = true;
    input.hidden = false;
    input.value = "";
    problem.replaceChildren(...texts.map((text) => {
      const line = document.createElement("p");
      line.textContent = asSentence(text);
      return line;
    }));
    problem.hidden = texts.length === 0;
  };

  const problemsOf = (answer) => {
    try {
      const told = JSON.parse(answer.responseText).problems;
      if (Array.isArray(told) && told.length) return told;
    } catch { /* not from the service itself */ }
    return ["The file did not arrive. Look at your connection, and send it again."];
  };

  const send = (file) => {
    const most = Number(form.dataset.most);
    if (file.size > most) {
      refuse([`${file.name} is larger than what is taken. Send it as Parquet, or gzipped, which is smaller.`]);
      return;
    }
    document.body.dataset.busy = "";
    problem.hidden = true;
    input.hidden = true;
    progress.hidden = false;
    bar.value = 0;
    stage.textContent = `Sending ${file.name}`;
    request = new XMLHttpRequest();
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = Math.round((100 * event.loaded) / event.total);
      if (event.loaded === event.total) stage.textContent = "It has arrived, and is being stored";
    });
    request.addEventListener("load", () => {
      if (request.status < 300) location.reload();
      else refuse(problemsOf(request));
    });
    request.addEventListener("error", () => refuse(problemsOf(request)));
    request.addEventListener("abort", () => refuse([]));
    request.open("POST", `${form.dataset.upload}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("X-Form-Token", document.querySelector('meta[name="form-token"]').content);
    request.send(file);
  };

  input.addEventListener("change", () => { if (input.files.length) send(input.files[0]); });
  form.querySelector("[data-upload-stop]").addEventListener("click", () => request?.abort());
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-upload]").forEach(upload));
