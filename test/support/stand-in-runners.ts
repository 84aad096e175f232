import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runners that print their real green output, or a red one where the project has a file `RED`. */
const runners =
  'pytest vitest jest mocha ruff flake8 black shellcheck cmake eslint tsc go cargo gradle gradlew mvn dotnet rspec phpunit mix deno tox nox just rimraf turbo bats ctest meson rake poe hatch task'
/** Programs that start others. */
const starters = 'uv uvx pipx poetry pdm pipenv npx bunx pnpm yarn bun bundle coverage pip python python3'

/**
 * Fills a directory for the PATH: programs of toolchains that few machines have all of. `node`, `npm`, `make`, `sh` and `python3` are
 * the real ones; `python3 -m pytest` is not.
 */
export function writeStandIns(directory: string): void {
  mkdirSync(join(directory, 'green'), { recursive: true })
  const program = join(directory, 'stand-in')
  writeFileSync(program, script)
  chmodSync(program, 0o755)
  for (const name of `${runners} ${starters}`.split(' ')) symlinkSync(program, join(directory, name))
}

/** What the runners print from now on. */
export function setGreenOutput(directory: string, programs: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(directory, 'green', name), text)
}

const script = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
name=$(basename "$0")
case $name in gradlew) name=gradle;; esac

end() {
  if [ -e RED ] || [ -e ../RED ]; then echo "1 failed, 2 passed in 0.01s"; exit 1; fi
  cat "$here/green/$1" 2>/dev/null
  exit 0
}
# The script of a package manager, with the arguments behind it.
task() {
  text=$(node -p 'JSON.parse(require("fs").readFileSync("package.json")).scripts?.[process.argv[1]] ?? ""' "$1")
  shift
  [ -n "$text" ] || exit 1
  # pnpm leaves out the package whose script starts it.
  case $text in 'pnpm -r '*) end pnpm;; esac
  exec sh -c "$text \\"\\$@\\"" sh "$@"
}
real() {
  PATH=$(printf %s "$PATH" | tr : '\\n' | grep -vxF "$here" | grep -v '/\\.venv/' | paste -sd:)
  exec "$@"
}

case $name in
  go|cargo|dotnet)
    case " $* " in *" test "*|*" fmt "*) end $name;; *) exit 0;; esac;;
  tox|nox|just|task|poe|hatch)
    case " $* " in *" lint "*) end ruff;; *) end pytest;; esac;;
  uv|pipx|poetry|pdm|pipenv|bundle)
    while :; do case $1 in --directory|-C) cd "$2" || exit 1; shift 2;; --project) shift 2;; -*) shift;; *) break;; esac; done
    [ "$1" = run ] || [ "$1" = exec ] || exit 0
    shift
    while :; do case $1 in
      --directory) cd "$2" || exit 1; shift 2;;
      --with|--extra|--group|-p|--python|--project|--package) shift 2;;
      -m) set -- python3 "$@"; break;;
      -*) shift;;
      *) break;;
    esac; done
    exec "$@";;
  uvx|npx|bunx)
    while :; do case $1 in -*) shift;; *) break;; esac; done
    program=\${1%@*}
    shift
    exec "$program" "$@";;
  coverage)
    shift
    while [ "$1" != -m ]; do shift; done
    shift
    exec "$@";;
  pip) exit 0;;
  python|python3)
    for module in pytest ruff flake8 coverage; do
      case " $* " in *" -m $module "*)
        while [ "$1" != -m ]; do shift; done
        shift
        exec "$@";;
      esac
    done
    real python3 "$@";;
  pnpm|yarn|bun)
    while :; do case $1 in
      -C|--dir|--cwd) cd "$2" || exit 1; shift 2;;
      -F|--filter)
        place=$(echo "$2" | sed 's/^\\.*//; s/\\.*$//')
        [ -d "./$place" ] || place=$(dirname "$(grep -l '"name": *"'"$place"'"' */*/package.json | head -1)")
        cd "./$place" || exit 1
        shift 2;;
      -*) shift;;
      *) break;;
    esac; done
    case $name-$1 in
      *-install) exit 0;;
      bun-test) end bun-test;;
      *-exec) shift; exec "$@";;
      *-run) shift; task "$@";;
    esac
    if node -e 'process.exit(JSON.parse(require("fs").readFileSync("package.json")).scripts?.[process.argv[1]] ? 0 : 1)' "$1"; then
      task "$@"
    fi
    exec "$@";;
  *) end $name;;
esac
`
