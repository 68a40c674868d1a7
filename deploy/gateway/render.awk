# Fills in a template from the environment:
#   ${NAME}                  the variable's value; one that is not set ends the run
#   #if NAME … #end          these lines, when the variable holds something ("#if !NAME": when it does not)
#   #each word NAME … #end   these lines once for each word of the variable, ${word} being that word
#   #include FILE            the lines of another template, which lies beside this one
# "#if" may stand inside "#if"; "#each" holds plain lines only.

BEGIN { depth = 0; hidden = 0; collecting = 0 }
{ render($0) }

function render(line,   words, negated, shown, included, file, status) {
  split(line, words, " ")
  if (words[1] == "#if") {
    depth++
    negated = substr(words[2], 1, 1) == "!"
    shown = (ENVIRON[negated ? substr(words[2], 2) : words[2]] != "") != negated
    if (!hidden && !shown) hidden = depth
  } else if (words[1] == "#each") {
    depth++; collecting = !hidden; word = words[2]; list = words[3]; lines = 0
  } else if (words[1] == "#end") {
    if (collecting) repeat()
    collecting = 0
    if (hidden == depth) hidden = 0
    depth--
  } else if (hidden) {
    return
  } else if (words[1] == "#include") {
    file = FILENAME
    sub("[^/]*$", words[2], file)
    while ((status = (getline included < file)) > 0) render(included)
    if (status < 0) stop("a template includes " words[2] ", which cannot be read")
    close(file)
  } else if (collecting) {
    kept[++lines] = line
  } else {
    print fill(line, "", "")
  }
}

function repeat(   values, count, i, j) {
  count = split(ENVIRON[list], values, " ")
  for (i = 1; i <= count; i++) for (j = 1; j <= lines; j++) print fill(kept[j], word, values[i])
}

function fill(line, word, value,   out, name) {
  out = ""
  while (match(line, /[$][{][A-Za-z0-9_]+[}]/)) {
    name = substr(line, RSTART + 2, RLENGTH - 3)
    if (name != word && !(name in ENVIRON)) stop("the template names " name ", which is not set")
    out = out substr(line, 1, RSTART - 1) (name == word ? value : ENVIRON[name])
    line = substr(line, RSTART + RLENGTH)
  }
  return out line
}

function stop(message) {
  print "gateway: " message > "/dev/stderr"
  exit 1
}
