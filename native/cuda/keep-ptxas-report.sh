# Runs nvcc and keeps what ptxas says, registers and spills of every kernel, as <object>.ptxas.
#
#   sh keep-ptxas-report.sh nvcc … -o <object> …
object=
previous=
for word in "$@"; do
  [ "$previous" = -o ] && object=$word
  previous=$word
done
"$@" 2>"$object.ptxas"
status=$?
cat "$object.ptxas" >&2
exit $status
