import { posix, relative, resolve } from 'node:path'
import { anyOf } from '../../core/any-of.ts'
import { captures } from '../../core/captures.ts'
import { changedAtMs, createdAtMs, isDirectory } from '../../io/path-kind.ts'
import type { Facts } from '../contract.ts'
import { isTestFile } from './test-files.ts'

/** What a source asks about the machine and the process around the run of a check. */
export interface AskedAround {
  /** Variables, by their names. */
  readonly names: readonly string[]
  /** Places that it looks at. */
  readonly paths: readonly string[]
  /** Something else that a call can set for the check in it. */
  readonly isOpen: boolean
}

/** By the path of the source. */
export type AskedSources = ReadonlyMap<string, AskedAround>

export function asksAround(path: string, lines: readonly string[]): AskedAround | null {
  const text = lines.filter((line) => !loadsModule(path, line)).join('\n')
  const isShell = /\.(?:ba)?sh$/.test(path)
  const pattern = isShell ? shellVariable : variable
  const names = [...text.matchAll(pattern)].flatMap((found) => found.slice(1).filter(Boolean))
  const paths = looksAtFiles.test(text) ? placesIn(text) : []
  // Tests start programs all the time.
  const isOpen = !isTestFile(path) && (isShell ? otherInShell : other).test(text.replaceAll(pattern, ''))
  return names.length + paths.length > 0 || isOpen ? { names, paths, isOpen } : null
}

/** A line that only loads a module of the tree or of a package: `import { a } from './b.js'`, or at the top `const b = require('./b')`. */
function loadsModule(path: string, line: string): boolean {
  const found = importLine.exec(line)?.groups?.from
  return (
    found !== undefined &&
    !/^(?:\.\.)?\//.test(posix.join(found.startsWith('.') ? posix.dirname(path) : '', found))
  )
}

const importLine =
  /^\s*(?:(?:import|export)\b[^'"();=]*|\}\s*from\s*|(?<!\s)(?:const|let|var)\b[^'"();=]*=\s*require\()(?<quote>['"])(?<from>(?:[^'"]*\/)?[^'"/.]*(?:\.[cm]?[jt]sx?)?)\k<quote>\)?;?\s*$/

/** `process.env.CI`, `os.environ["CI"]`, `getenv("CI")`, `env!("CI")`, `ENV.fetch('CI')`, `'CI' in process.env`. */
const variable = anyOf(
  [
    /\b(?:process\.env|import\.meta\.env|Bun\.env|env)\??\.(?!(?:get|has|fetch|toObject)\b)(\w+)/,
    /\b(?:process\.env|environ|_?ENV)\s*(?:\[\s*['"`](\w+)['"`]\s*\]|\{\s*['"]?(\w+)['"]?\s*\})/,
    /\b(?:environ(?:\.\w+)?|env\.(?:get|has)|ENV\.\w+|getenv|[gG]et_?[eE]nv(?:ironmentVariable)?|fetch_env!?|LookupEnv|var(?:_os)?|(?:option_)?env!)\(\s*['"`](\w+)['"`]/,
    /['"`](\w+)['"`]\s+(?:not )?in\s+(?:process\.env|(?:os\.)?environ)\b/,
  ],
  'g',
)
const shellVariable = /\$\{?([A-Z][A-Z\d_]+)\b/g

const other =
  /\b(?:process\.env|environ|ENV|[gG]etenv|LookupEnv|option_env|env::vars?|ppid|getppid|parent_id|umask|[gs]et[pP]riority|[gs]etrlimit|isTTY|isatty|(?:get)?hostname|hash_randomization|warnoptions|getTimezoneOffset|getHours|resolvedOptions|toLocale\w*|tzname|localtime|getlocale|subprocess|Command::new|exec\.Command|popen|getcwd|current_dir|execArgv|stdin|createConnection)\b|\b(?:(?:exec|execFile|spawn)(?:Sync)?|cwd|connect)\(|\/proc\//
const otherInShell = /\b(?:env|printenv|umask|ulimit|tty|hostname|ps|git)\b|\[ -t |\/proc\//

const looksAtFiles =
  /\b(?:exists?\w*|access\w*|l?stat\w*|is_?(?:file|dir)\w*|f?open\w*|(?:read|include|require|import)\w*|source|File)\b|\s-[defrsw]\s/i

/** As they are written, or below a directory for temporary files or the home. */
function placesIn(text: string): readonly string[] {
  const names = captures(text, named)
  const near = nearby.test(text) ? names.flatMap((name) => [`/tmp/${name}`, `~/${name}`]) : []
  return [...(text.match(outside) ?? []), ...near, ...names.filter((name) => name.includes('/'))]
}

const outside = /(?<![\w.$)}*/:])(?:~|\/(?:tmp|var|dev\/shm|home|root|Users|opt|srv|run))\/[\w.@-][\w.@/-]*/g
const nearby = /tmp_?dir|temp_?dir|home_?dir|expanduser|\bHOME\b|home\(/i
const named = /['"`/]([\w.@-][\w.@/-]{0,120})(?=['"`\s])/g

export interface RunMoment {
  readonly home: string
  readonly root: string
  /** When the session began. */
  readonly sinceMs: number
  /** When the run began. */
  readonly beganMs: number
}

/**
 * Why the surroundings may have made a run green: something outside of the project that this session wrote before the run, and that changed
 * sources look for. null when there is none.
 */
export function flagFor(asked: AskedSources, when: RunMoment): string | null {
  for (const [source, { paths }] of asked) {
    const found = paths.find((path) => !isInside(path, when) && isFresh(path, when))
    if (found !== undefined)
      return `${source} looks for ${found}, which was written in this session and is not part of the project; remove it, then run the check`
  }
  return null
}

function placeOf(path: string, { root, home }: RunMoment): string {
  return resolve(root, path.replace(/^~(?=\/)/, home))
}

function isInside(path: string, when: RunMoment): boolean {
  return placeOf(path, when).startsWith(`${when.root}/`)
}

function isFresh(path: string, when: RunMoment): boolean {
  const place = placeOf(path, when)
  const atMs = isDirectory(place) ? createdAtMs(place) : changedAtMs(place)
  return atMs > when.sinceMs && atMs < when.beganMs
}

/** How the reason begins. */
export const ranWith = 'it ran with'

/** Why a green run may show only what was set or put there for it, and changed sources ask for; null when nothing was. */
export function setAround(
  command: string,
  checks: readonly string[],
  asked: AskedSources,
  when: RunMoment & { isInTree(path: string): boolean },
): Facts['around'] | null {
  const isHidden = (path: string): boolean =>
    isInside(path, when) && isFresh(path, when) && !when.isInTree(relative(when.root, placeOf(path, when)))
  const isAlone = asked.size === 0 || isPlain(command, checks)
  for (const [source, { names, paths, isOpen }] of asked) {
    const hidden = paths.find(isHidden)
    if (hidden !== undefined)
      return {
        why: `${ranWith} ${hidden}, which git ignores and this session wrote, and ${source} asks for it`,
      }
    if (isAlone) continue
    const name = names.find((each) => new RegExp(String.raw`\b${each}\b`).test(command))
    if (name !== undefined)
      return { why: `${ranWith} ${name} set by the call, which ${source} asks for`, isByCall: true }
    if (isOpen || paths.length > 0 || (names.length > 0 && /[$\x60]|\benv\b/.test(command)))
      return {
        why: `${ranWith} more in the call than the check, which ${source} can ask for`,
        isByCall: true,
      }
  }
  return null
}

const maxPlain = 2_000

/** The call has nothing but a check and what cuts its output. */
function isPlain(command: string, checks: readonly string[]): boolean {
  // A long one takes the patterns long.
  if (command.length > maxPlain) return false
  const bare = command
    .trim()
    .replace(/^(?:set -[a-z]*o pipefail|cd [^\s;&|<>$]+)\s*(?:&&|;)\s*/, '')
    .replace(/^timeout [\w.]+ /, '')
    .replace(/(?<!\s)\s*(?:;|&&)\s*echo\b[^;&|<>]*$/, '')
    .replaceAll(/(?<!\s)\s*(?:2>&1|[12&]?>\s*\/dev\/null)/g, '')
    .replace(/(?<!\s)(?:\s*\|\s*(?:tail|head|cat|grep)\b[^|;&<>=]*)+$/, '')
  const program = bare.split(/\s/, 1)[0]
  return !/[=;&|<>\n(`$]/.test(bare) && checks.some((check) => check.trim().split(/\s/, 1)[0] === program)
}
