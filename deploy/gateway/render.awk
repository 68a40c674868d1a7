# Fills in a template from the environment:
#   ${NAME}                  the variable's value; one that is not set ends the run
#   #if NAME … #end          these lines, when the variable holds something ("#if !NAME": when it does not)
#   #each word NAME … #end   these lines once for each word of the variable, ${word} being that word
# "#if" may stand inside "#if"; "#each" holds plain lines only.

BEGIN { depth = 0; hidden = 0; collecting = 0 }

$1 == "#if" {
  depth++
  negated = substr($2, 1, 1) == "!"
  name = negated ? substr($2, 2) : $2
  shown = (ENVIRON[name] != "") != negated
  if (!hidden && !shown) hidden = depth
  next
}
$1 == "#each" { depth++; collecting = !hidden; word = $2; list = $3; lines = 0; next }
$1 == "#end" {
  if (collecting) {
    count = split(ENVIRON[list], words, " ")
    for (i = 1; i <= count; i++) for (j = 1; j <= lines; j++) print fill(kept[j], word, words[i])
    collecting = 0
  }
  if (hidden == depth) hidden = 0
  depth--
  next
}
hidden { next }
collecting { kept[++lines] = $0; next }
{ print fill($0, "", "") }

function fill(line, word, value,   out, name) {
  out = ""
  while (match(line, /[$][{][A-Za-z0-9_]+[}]/)) {
    name = substr(line, RSTART + 2, RLENGTH - 3)
    if (name != word && !(name in ENVIRON)) {
      print "gateway: the template names " name ", which is not set" > "/dev/stderr"
      exit 1
    }
    out = out substr(line, 1, RSTART - 1) (name == word ? value : ENVIRON[name])
    line = substr(line, RSTART + RLENGTH)
  }
  return out line
}
