import { basename, dirname, join, resolve } from 'node:path'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { findProgram } from '../../io/find-program.ts'
import { changedAtMs, pathKind } from '../../io/path-kind.ts'
import { sizeOf } from '../../io/read-from.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { realPath } from '../../io/resolve-links.ts'
import { sha256 } from '../../io/sha256.ts'
import { isHarmlessAssignment } from '../../shell/script-state.ts'
import { placedOutput } from './build-outputs.ts'
import { type KnownPackages, namesBelow } from './package-states.ts'

/** Where a check looks for programs and settings outside of the tree. */
export interface Machine {
  readonly home: string | null
  /** The search path for programs. */
  readonly path: string
  readonly packages?: KnownPackages
}

/** A longer program is known by its size. */
const maxBytes = 1024 * 1024
const maxPrograms = 8
/** The name under which the search path is kept. */
const searchPath = 'PATH'

/**
 * What decides, outside of the files of the tree, what a command runs: each program with its place and hash, and settings in the user's home
 * that can replace it or keep it from failing. By name, with a value that is the same while nothing changed.
 */
export function machineState(
  root: string,
  command: string,
  definition: string,
  { home, path }: Machine,
): Readonly<Record<string, string>> {
  const state: Record<string, string> = { [searchPath]: hashed(path) }
  const names = programsIn(command, definition)
  for (const name of names) {
    const isOwn = command.trimStart().startsWith(name)
    const found = programPath(name, root, isOwn ? path : `${root}/node_modules/.bin:${path}`)
    if (found !== null) state[`program ${name}`] = described(found, root)
  }
  const named = `${command}\n${definition}`
  const node = /\bnp[mx]\b/.test(named) ? findProgram('node', path) : null
  const global = node === null ? '' : resolve(realPath(node), '../../etc/npmrc')
  const lines = global === '' ? [] : matchingLines(textOf(global), npmLines)
  if (lines.length > 0) state[global] = lines.join('; ')
  if (home === null) return state
  for (const { by, files, lines } of settings)
    if (by.test(named))
      for (const file of files) {
        const text = textOf(join(home, file))
        const found = lines === null ? (text === null ? [] : [hashed(text)]) : matchingLines(text, lines)
        if (found.length > 0) state[`~/${file}`] = found.join('; ')
      }
  if (/\b(?:python[\d.]*|py\.?test|unittest|tox|nox)\b/.test(named))
    for (const library of [join(home, '.local/lib'), join(root, '.venv/lib')])
      for (const python of namesBelow(library)) Object.assign(state, startOfPython(join(library, python)))
  for (const file of startupFiles) {
    const found = matchingLines(textOf(join(home, file)), redefines(names))
    if (found.length > 0) state[`~/${file}`] = found.join('; ')
  }
  return state
}

/** Files that every Python runs first, and that no package has: they end it, or change its test runners. */
function startOfPython(directory: string): Readonly<Record<string, string>> {
  const packages = join(directory, 'site-packages')
  const names = namesBelow(packages).filter((name) => /^(?:site|user)customize\.py$|\.pth$/.test(name))
  const found = names.flatMap((name) => {
    const text = textOf(join(packages, name)) ?? ''
    const isOwn =
      !name.endsWith('.pth') || /^import\b.*(?:exit\(|\b(?:_?pytest|unittest|execv|kill)\b)/m.test(text)
    return isOwn ? [[join(packages, name), hashed(text)] as const] : []
  })
  return Object.fromEntries(found)
}

/** The first words of the commands, and what a launcher starts. */
function programsIn(command: string, definition: string): readonly string[] {
  const script = definition.split('\n').map((line) => line.replace(/^[\t @+-]+|^[\w:.-]+: /, ''))
  const parts = [command, ...script].flatMap((line) => line.split(/&&|\|\||[;|\n]/))
  const names = parts.flatMap((part) => {
    const words = part
      .trim()
      .replace(/^(?:[A-Za-z_]\w*=\S*\s+)+/, '')
      .split(/\s+/)
    const [first = '', second = '', third = ''] = words
    if (/^(?:npx|bunx|uvx)$/.test(first)) return [first, second]
    if (second === 'run' || second === 'exec')
      return /^(?:npm|pnpm|yarn|bun)$/.test(first) ? [first] : [first, third]
    return [first]
  })
  return [...new Set(names.filter((name) => /^[\w.][\w./-]*$/.test(name) && !builtins.has(name)))].slice(
    0,
    maxPrograms,
  )
}

const builtins = new Set(['cd', 'set', 'export', 'echo', 'test', 'true', 'exit', 'sh', 'bash', 'env', '.'])

function programPath(name: string, root: string, path: string): string | null {
  if (!name.includes('/')) return findProgram(name, path)
  // Scripts of the project belong to its files.
  const isInstalled = /(?:^|\/)(?:node_modules|\.?venv|vendor)\//.test(name)
  const found = join(root, name)
  return isInstalled && pathKind(found) !== null ? found : null
}

/** A program of a package by its version, one of Python by its form, any other by its path and hash. */
function described(found: string, root: string): string {
  const real = realPath(found)
  const text = textOf(real) ?? ''
  const hash = hashed(`${sizeOf(real)}\n${text}`)
  const inside = /^.*\/node_modules\/(?:@[^/]+\/)?[^/.][^/]*(?=\/)/.exec(real)?.[0]
  const manifest = inside === undefined ? null : textOf(join(inside, 'package.json'))
  const [name, version] = ['name', 'version'].map(
    (key) => new RegExp(`"${key}"\\s*:\\s*"([^"]+)"`).exec(manifest ?? '')?.[1],
  )
  if (name !== undefined && version !== undefined) return `package ${name} ${version} (${hash})`
  if (/^#!.*python[\s\S]*^from [\w.]+ import \w*main\b[\s\S]*sys\.exit\(/m.test(text))
    return 'script of Python'
  const isScript = text !== '' && !/[\0-\x08]/.test(text)
  const isNear = real.startsWith(`${realPath(root)}/`) || /^\/(?:private\/)?(?:var\/)?tmp\//.test(real)
  return `${isScript && isNear ? 'script' : 'program'} ${found} (${hash})`
}

/**
 * Why a program that the call names by its path, or takes from a virtual environment, is not a runner: a script that this session wrote, and
 * that starts nothing. What an installer writes starts the real program. null when there is none.
 */
export function fakeRunner(
  command: string,
  where: {
    readonly root: string
    readonly home: string
    readonly sinceMs: number
    /** Outputs of a build that calls wrote without building them. */
    readonly placed: Readonly<Record<string, string>>
  },
): string | null {
  const words = command.split(/[\s;&|()"']+/).filter((word) => word !== '')
  const place = (word: string): string =>
    resolve(where.root, word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, where.home))
  const activated = words
    .filter((word) =>
      /\/(?:activate|env|nvm\.sh|asdf\.sh|\.(?:bashrc|bash_profile|profile|zshrc))$/.test(word),
    )
    .map(place)
  const added = [...command.matchAll(/\bPATH=["']?([^\s"';&|]+)/g)]
    .flatMap(([, entries = '']) => entries.split(':'))
    .filter((entry) => entry.includes('/') && !/^\/|PATH/.test(entry))
    .map((entry) => place(entry.replace(/^\$\{?PWD\}?\//, '')))
  const isLaunched = words.some((word) => /(?:^|\/)(?:uv|poetry|pdm|hatch|rye|pipenv)$/.test(word))
  const environments = [
    ...activated.map(dirname),
    ...added,
    ...(isLaunched ? [join(where.root, '.venv/bin')] : []),
  ]
  const runners = words.filter((word) => runnerName.test(word))
  const names = runners.map((word) => basename(word))
  for (const path of activated) {
    const [line] = matchingLines(names.length === 0 ? null : textOf(path), redefines(names))
    if (line !== undefined) return `${path} has \`${line}\`, which can change what it runs`
    // A start-up file that this session wrote may also print a summary, or find another program.
    const text = /rc$|profile$/.test(path) && changedAtMs(path) > where.sinceMs ? textOf(path) : null
    const fresh = text?.split('\n').find((each) => {
      const set = /\bPATH=.*$/.exec(each)?.[0]
      return set === undefined ? /^\s*(?:echo|printf|cat|head|tail)\b/.test(each) : !isHarmlessAssignment(set)
    })
    if (fresh !== undefined)
      return `${path} was written in this session and has \`${fresh.trim().slice(0, 120)}\``
  }
  const paths = runners.flatMap((word) =>
    word.includes('/') ? [place(word)] : environments.map((directory) => join(directory, word)),
  )
  const fake = paths.find((path) => {
    const text = changedAtMs(path) > where.sinceMs ? textOf(realPath(path)) : null
    return text !== null && text !== '' && !/[\0-\x08]/.test(text.slice(0, 1000)) && !handsOn(text)
  })
  if (fake !== undefined)
    return `${fake} was written in this session and starts no program that checks anything`
  return placedOutput(where.root, where.placed)
}

const runnerName =
  /^(?:.*\/)?(?:pytest|py\.test|python[\d.]*|uvx?|poetry|pdm|hatch|rye|pipenv|tox|nox|npm|npx|pnpm|yarn|bunx?|node|deno|jest|vitest|mocha|go|cargo|make|rspec|phpunit|ruff|mypy|eslint|tsc)$/

/** Whether a script starts another program with its arguments, or loads one. */
function handsOn(text: string): boolean {
  return (
    /\bexec'?\s+(?!echo\b|printf\b|true\b|cat\b|:)|"?\$@|\b(?:require|require_relative|include|load)\b/.test(
      text,
    ) ||
    /^[ \t]*(?:from|import)[ \t]+(?!(?:sys|os|re|time|random)\b)[\w.{'"*]/m.test(text) ||
    text.split('\n').some((line) => kindOfCommand(line.trim()) !== 'other')
  )
}

/** Settings of npm that change the shell, the options or the program of its scripts. Without registries, which may have keys. */
export const npmLines =
  /^[ \t]*["']?(?:script-shell|node-options|userconfig|globalconfig|ignore-scripts|shell-emulator|prefix|if-present|workspaces?|include-workspace-root|scriptShell|nodeOptions)["']?(?:\[\])?[ \t]*(?:[=:].*)?$/gm

/** Settings of tools in the home that change what their commands run. */
const settings: readonly {
  readonly by: RegExp
  readonly files: readonly string[]
  /** null for the hash of the whole file. */
  readonly lines: RegExp | null
}[] = [
  {
    by: /\b(?:npm|npx|pnpm|yarn|bunx?)\b/,
    files: ['.npmrc', '.config/pnpm/rc', '.config/pnpm/config.yaml'],
    lines: npmLines,
  },
  {
    by: /\byarn\b/,
    files: ['.yarnrc', '.yarnrc.yml'],
    lines: /^[ \t]*(?:yarn-?path|yarnPath|script-shell|plugins)\b.*$/gim,
  },
  { by: /\bbunx?\b/, files: ['.bunfig.toml'], lines: null },
  {
    by: /\bcargo\b/,
    files: ['.cargo/config.toml', '.cargo/config'],
    lines: /^[ \t]*(?:runner|rustc(?:-wrapper)?|test|t|\[alias\]|rustflags)\b.*$/gm,
  },
  {
    by: /\bgo\b/,
    files: ['.config/go/env', 'Library/Application Support/go/env'],
    lines: /^(?:GOFLAGS|GOROOT|GOOS|GOARCH|GOWORK)=.*$/gm,
  },
  {
    by: /\bmvnw?\b/,
    files: ['.mavenrc', '.m2/settings.xml'],
    lines: /^.*(?:skipTests|maven\.test\.|testFailureIgnore|surefire).*$/gm,
  },
  { by: /\bgradlew?\b/, files: ['.gradle/init.gradle', '.gradle/init.gradle.kts'], lines: null },
  { by: /\brspec\b/, files: ['.rspec', '.config/rspec/options'], lines: null },
  { by: /\b(?:python[\d.]*|pytest|tox|nox|unittest)\b/, files: ['.pytest.ini', 'pytest.ini'], lines: null },
]

const startupFiles =
  '.bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc .zshenv .zprofile .config/fish/config.fish'.split(
    ' ',
  )

/** Lines of a start-up file that give one of these programs another meaning. */
function redefines(names: readonly string[]): RegExp {
  const name = `(?:${names.map((each) => RegExp.escape(each)).join('|')})`
  return new RegExp(
    String.raw`^.*(?:\balias\s+(?:-\w+\s+)*${name}[= ]|(?:^|[;&|{\s])(?:function\s+)?${name}\s*\(\s*\)|\bfunction\s+${name}\b|\bhash\s+-p\s+\S+\s+${name}\b|\bBASH_ENV=|\bPYTEST_ADDOPTS=|\bMAKEFLAGS=|\bGOFLAGS=|\bnpm_config_script_shell=).*$`,
    'gm',
  )
}

/** Without comments. */
function matchingLines(text: string | null, lines: RegExp): readonly string[] {
  return (text?.match(lines) ?? [])
    .filter((line) => !/^\s*[#;]/.test(line))
    .map((line) => line.trim().slice(0, 120))
}

function textOf(path: string): string | null {
  return readShortText(path, maxBytes)
}

function hashed(text: string): string {
  return sha256(text).slice(0, 12)
}

/**
 * What now decides how the command runs and did not before, one sentence without a full stop; null when nothing. A run in a sandbox has
 * nothing of the machine but the tree, and builds in a copy what is due.
 */
export function changedMachine(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
  sandboxed: { readonly root: string } | null = null,
): string | null {
  // A person, or a session that was resumed elsewhere, may have another search path. An agent cannot change that of its hooks.
  const isSamePath = before[searchPath] === now[searchPath]
  for (const [key, is] of Object.entries(now)) {
    const was = Object.hasOwn(before, key) ? before[key] : undefined
    const [, of, program] = /^(program|package) (.*)$/.exec(key) ?? []
    const built = /^built (.*)$/.exec(key)?.[1]
    if (built !== undefined) {
      if (isNotRebuilt(was, is, sandboxed !== null))
        return `\`${built}\` was not built from its sources as they are now, whatever its time says; remove it and run again`
      continue
    }
    if (sandboxed !== null && !`${key} ${is}`.includes(` ${sandboxed.root}/`)) continue
    if (was === is || key === searchPath || (program !== undefined && !isSamePath)) continue
    if (program === undefined)
      return `since the session began, ${key} has \`${is}\`, which can change what it runs`
    if (isHonestProgram(was ?? (of === 'package' ? sameVersion(before, is) : undefined), is)) continue
    return of === 'package'
      ? `the files of \`${program}\` were changed in this session, and its version was not; install it again`
      : `\`${program}\` is another program than when the session began: ${is}${was === undefined ? '' : `, before ${was}`}`
  }
  return null
}

function isNotRebuilt(was: string | undefined, is: string, isBuiltAfter: boolean): boolean {
  const [[program, sources], [programNow, sourcesNow, age, kind]] = [(was ?? '').split(' '), is.split(' ')]
  // A linker makes a new file. One that is older than its sources and has another content was written over.
  const isOver = kind === 'binary' && was !== undefined
  const isOld = age === 'older' || (age === 'due' && !isBuiltAfter)
  return (program === programNow || isOver) && sources !== sourcesNow && isOld
}

/** An earlier state of a package that is now at another place: `package runner 1.0.0 (…)`. Its files are the same in each place. */
function sameVersion(before: Readonly<Record<string, string>>, is: string): string | undefined {
  const name = /^package \S+ (?!0 )\S+ /.exec(is)?.[0]
  const known = Object.keys(before).flatMap((key) => (key.startsWith('package ') ? (before[key] ?? []) : []))
  return name === undefined || known.includes(is) ? undefined : known.find((each) => each.startsWith(name))
}

/** An upgrade of a package, or a program that was installed in the usual way. */
function isHonestProgram(was: string | undefined, is: string): boolean {
  const [old, fresh] = [was ?? '', is].map((text) => /^package (\S+) (\S+) /.exec(text))
  if (old != null && fresh != null) return old[1] === fresh[1] && old[2] !== fresh[2]
  if (is === 'script of Python' || fresh != null) return true
  return was === undefined && !is.startsWith('script ')
}
