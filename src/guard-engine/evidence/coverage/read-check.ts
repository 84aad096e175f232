import { posix } from 'node:path'
import { asObject, parseObject } from '../../../core/json-fields.ts'
import { harmlessNode } from '../../../shell/script-state.ts'
import { argOf } from '../../../shell/shell-state.ts'
import { unwrapCommand } from '../../../shell/unwrap-command.ts'
import { type ReadOptions, readOptions } from './read-options.ts'
import { runnerOptions } from './runner-options.ts'

/** What a simple command checks: one runner, or one task of a task runner, and how much of it. */
export interface Check extends ReadOptions {
  /** `pytest`, `go test`, `script:test`, `make:check`. */
  readonly runner: string
  /** The word that starts a task; the same task may be started by several programs. */
  readonly program: string
  /** Programs of the project's environment around it: `uv`, `npx`. */
  readonly launchers: readonly string[]
  /** The words without launchers, directories and `python -m`. */
  readonly words: readonly string[]
  /** It was started by `python -m`. */
  readonly isModule: boolean
  /** Arguments that a task passes on to its last command. */
  readonly forwarded: readonly string[]
  /** It is one of several commands of a task; these others must run too. */
  readonly lacks?: readonly string[]
}

/** What is read of the project: its root, and files in it. */
export interface CoveragePlace {
  readonly root: string
  /** Text of a file in the root; null when it cannot be read. */
  read(name: string): string | null
  /** Names in a directory, by its full path; absent when nothing can be listed. */
  list?(directory: string): readonly string[] | null
  /** The test files of the project, as far as they are known. */
  readonly tests: readonly string[]
  /** Variables of any name may be set: no program or script of the call reads them. */
  readonly free?: boolean
  /** The directory below the root in which the command runs, when its runner finds the settings of the root from there. */
  readonly below?: string
}

/** The checks that a simple command runs, as far as its words show. Empty for anything else. */
export function readChecks(words: readonly string[], place: CoveragePlace): readonly Check[] {
  const { launchers, words: own, isModule } = withoutLaunchers(withoutInterpreter(words), place.root)
  const [program = '', ...args] = own
  const base = { launchers, words: own, program, isModule }
  // `pdm run test` and `hatch run test` start a script of the project, if it has one of this name.
  const runs = program === 'poe' ? 'poe' : launchers.at(-1)
  const name = program === 'poe' ? args[0] : words.includes(program) ? program : undefined
  if (name !== undefined && pyprojectScript(place.read('pyproject.toml'), runs, name) !== null) {
    const forwarded = program === 'poe' ? args.slice(1) : args
    return [{ ...noOptions, ...base, runner: `${runs}:${name}`, unknown: forwarded }]
  }
  switch (program) {
    case 'npm':
    case 'pnpm':
    case 'yarn':
    case 'bun':
      if (program === 'bun' && args[0] === 'test') return [runnerCheck('bun test', args.slice(1), base)]
      return scriptChecks(program, args, base, place)
    case 'make':
    case 'gmake':
    case 'just':
    case 'task':
      return targetChecks(program === 'gmake' ? 'make' : program, args, base, place).map((each) =>
        testsOfBuild(each, place),
      )
    case 'rake': {
      const tasks = args.filter((arg) => !/^(?:-[qtv]|--(?:quiet|silent|trace|verbose))$/.test(arg))
      const unknown = tasks.filter((arg) => !/^[\w:]+$/.test(arg))
      const names = tasks.length === 0 ? defaultTasks(place.read('Rakefile')) : tasks
      return names.map((task) => ({ ...noOptions, ...base, unknown, runner: `rake:${task}` }))
    }
    case 'hatch':
      return args[0] === 'test' ? [runnerCheck('pytest', args.slice(1), base)] : []
    case 'gradle':
    case 'gradlew':
      return taskChecks('gradle', withoutColons(args, place), base, {
        build: ['check', 'test'],
        check: ['test'],
      })
    case 'mvn':
    case 'mvnw':
      return taskChecks('mvn', args, base, {
        package: ['test'],
        verify: ['package', 'test'],
        'integration-test': ['package', 'test'],
        install: ['verify', 'package', 'test'],
        deploy: ['install', 'verify', 'package', 'test'],
      })
    case 'turbo':
      return taskChecks('turbo', args[0] === 'run' ? args.slice(1) : args, base, {})
    case 'deno':
    case 'composer': {
      const [verb = '', name = '', ...rest] = args
      if (program === 'deno' && verb === 'test') return [runnerCheck('deno test', args.slice(1), base)]
      const isRun = verb === 'task' || verb === 'run' || verb === 'run-script'
      const script = isRun ? name : verb
      const forwarded = isRun ? rest : args.slice(1)
      return [{ ...noOptions, ...base, runner: `${program}:${script}`, forwarded }]
    }
    case 'tox':
    case 'nox':
      // Options that change only how the same environments run.
      return [
        { ...noOptions, ...base, runner: program, forwarded: args.filter((arg) => !taskLook.test(arg)) },
      ]
    case 'gotestsum':
      return [runnerCheck('go test', goTestArgs(args), base)]
    default: {
      const at = program === 'node' ? args.indexOf('--run') : -1
      if (at !== -1) return nodeScript(args.slice(0, at), args.slice(at + 1), base, place)
      if (/^(?:node|tsx|ts-node|python[\d.]*|php|ruby)$/.test(program) && scriptFile.test(args[0] ?? ''))
        return [scriptCheck(program.replace(/^python[\d.]*$/, 'python'), args, base)]
      const [, build] =
        /^cmake --build (\S+) (?:--target|-t) test(?: -j ?\d*| -v)*$/.exec([program, ...args].join(' ')) ?? []
      const tests = testsOfBuild({ ...noOptions, ...base, runner: 'make:test', less: [`-C ${build}`] }, place)
      if (build !== undefined && tests.runner === 'ctest') return [tests]
      const runner = runnerOf(program, args)
      const check = runner === null ? null : runnerCheck(runner.name, runner.args, base, runner.less)
      return check === null ? [] : [place.below === undefined ? check : fromRoot(check, place.below)]
    }
  }
}

/** `php vendor/bin/phpunit`, `node --no-warnings node_modules/.bin/jest`, `sh ./gradlew`: the same script that its first line would start. */
function withoutInterpreter(words: readonly string[]): readonly string[] {
  const [name = '', ...args] = words
  if (/^(?:\.\/)?manage\.py$/.test(name)) return ['python', 'manage.py', ...args]
  const at = name === 'node' ? args.findIndex((arg) => !harmlessNode.test(arg)) : 0
  const file = args[at] ?? ''
  const [, own] =
    (Object.hasOwn(ownScripts, name) ? ownScripts[name]?.exec(file) : null)?.filter(Boolean) ?? []
  if (own === undefined) return words
  return [name === 'node' ? own.replace(/^typescript$/, 'tsc') : file, ...args.slice(at + 1)]
}

const shellScript = /^((?:\.\/)?(?:gradlew|mvnw))$/
const ownScripts: Readonly<Record<string, RegExp>> = {
  php: /^((?:\.\/)?vendor\/bin\/.+)$/,
  sh: shellScript,
  bash: shellScript,
  node: /^(?:\.\/)?node_modules\/(?:\.bin\/([\w-]+)|(vitest)\/vitest\.mjs|(jest)\/bin\/jest(?:\.js)?|(mocha)\/bin\/_?mocha(?:\.js)?|(eslint)\/bin\/eslint\.js|(typescript)\/bin\/tsc)$/,
}

/** `make test` in a build directory of CMake is `ctest` there. */
function testsOfBuild(check: Check, { below = '', read }: CoveragePlace): Check {
  const [, own] = /^(?:-C|--directory)[= ](\S+)$/.exec(check.less[0] ?? '') ?? []
  const at = tidy(posix.join(below, own ?? '.'))
  if (check.runner !== 'make:test' || read(`${at}/CMakeCache.txt`) === null) return check
  const less = own === undefined ? check.less : check.less.slice(1)
  return { ...check, runner: 'ctest', less, more: [...check.more, `--test-dir ${at}`] }
}

/** Tests in the only build directory of CMake, whatever its name is, as tests in the usual one. */
export function inUsualBuild(check: Check, { root, read }: CoveragePlace): Check {
  if (check.runner !== 'ctest' || read('build/CMakeCache.txt') !== null) return check
  const more = check.more.map((each) => {
    const at = tidy(/^--test-dir[= ](.+)$/.exec(each)?.[1] ?? '')
    const cache = read(`${at}/CMakeCache.txt`) ?? ''
    return cache.split('\n').includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${root}`) ? '--test-dir build' : each
  })
  return { ...check, more }
}

/** Options of `manage.py test` that leave nothing out. */
const djangoLook = {
  look: '-v= --verbosity= --keepdb --parallel --failfast --noinput --no-input --timing --buffer -b --shuffle --traceback --force-color --no-color --durations= --debug-mode',
  less: '-k= --tag= --exclude-tag= -p= --pattern= --testrunner=',
} as const

function scriptCheck(program: string, [file = '', ...args]: readonly string[], base: Base): Check {
  const isDjango = /(?:^|\/)manage\.py$/.test(file) && args[0] === 'test'
  const words = args.filter(
    (arg, at) => !(isDjango && (args[at - 1] === '--parallel' ? /^\d+$/ : /^--parallel=\d+$/).test(arg)),
  )
  if (!isDjango) return { ...noOptions, ...base, runner: [program, tidy(file), ...words].join(' ') }
  const read = readOptions(words.slice(1), { ...djangoLook, operands: 'filters' })
  return { ...base, ...read, forwarded: [], runner: [program, tidy(file), 'test'].join(' ') }
}

/** A program of the project: only the same words run the same check. */
const scriptFile = /^(?:\.\/)?[\w@][\w@./-]*\.(?:[cm]?[jt]s|py|php|rb)$/

/** `task default: :test`, `task :default => %i[test rubocop]`. Each such line adds to those before it. */
function defaultTasks(rakefile: string | null): readonly string[] {
  const lists = [...(rakefile ?? '').matchAll(defaultLine)].map(([, list = '']) => list)
  if (lists.some((list) => /\bdo\b|\{|^\[[^\]]*$/.test(list))) return []
  return lists.flatMap((list) => [...list.matchAll(/\w+(?::\w+)*/g)].map(([name]) => name))
}

const defaultLine = /^task\b[ (]*:?["']?default\b["']?(?::|[ \t]*=>)[ \t]*(?:%[iw])?(.*)$/gm

/** The commands of a script of pdm or Hatch or a task of Poe the Poet, each of which must succeed; null when there is none. */
export function pyprojectScript(
  text: string | null,
  tool: string | undefined,
  name: string,
): readonly string[] | null {
  const tables = { pdm: 'pdm.scripts', hatch: 'hatch.envs.default.scripts', poe: 'poe.tasks' } as const
  if (text === null || (tool !== 'pdm' && tool !== 'hatch' && tool !== 'poe') || !/^[\w-]+$/.test(name))
    return null
  const start = text.indexOf(`\n[tool.${tables[tool]}]\n`)
  const table = start === -1 ? '' : text.slice(start + 2).replace(/\n\[[\s\S]*/, '\n')
  const value = new RegExp(String.raw`^${name}[ \t]*=[ \t]*(.*)$`, 'm').exec(table)?.[1] ?? ''
  const list = tool === 'hatch' ? /^\[(.*)\]$/.exec(value)?.[1] : undefined
  const one = /^\{[ \t]*(?:cmd|shell)[ \t]*=[ \t]*("[^"\\]*"|'[^']*')[ \t]*\}$/.exec(value)?.[1] ?? value
  const texts = [...(list ?? one).matchAll(/"([^"\\]*)"|'([^']*)'/g)].map(([, a, b = '']) => a ?? b)
  const isPlain = (list ?? one).replaceAll(/"[^"\\]*"|'[^']*'|[\s,]/g, '') === ''
  if (!isPlain || texts.length === 0 || (list === undefined && texts.length > 1)) return null
  return texts.some((each) => each.startsWith('-'))
    ? null
    : texts.map((each) => each.replaceAll(/\{args(?::([^}]*))?\}/g, '$1'))
}

/** Node runs the script alone, without those of npm before and after it. */
function nodeScript(
  options: readonly string[],
  [name = '', ...rest]: readonly string[],
  base: Base,
  { read }: CoveragePlace,
): readonly Check[] {
  const scripts = scriptsIn(read('package.json'))
  const around = [`pre${name}`, `post${name}`].filter((each) => scripts.has(each))
  const less = around.map((each) => `--run, without ${each}`)
  const forwarded = rest[0] === '--' ? rest.slice(1) : rest
  return [{ ...noOptions, ...base, runner: `script:${name}`, unknown: options, less, forwarded }]
}

/** Its places, as they are written from the root. */
function fromRoot(check: Check, below: string): Check {
  if (check.runner === 'ctest') return { ...check, more: [...check.more, `--test-dir ${below}`] }
  const isPackage = runnerOptions()[check.runner]?.operands === 'packages'
  const places = check.operands.length === 0 ? ['.'] : check.operands
  const operands = places.map((place) => (place.startsWith('/') ? place : tidy(posix.join(below, place))))
  return { ...check, operands: isPackage ? operands.map((each) => `./${each}`) : operands }
}

const taskLook = /^(?:-[qvr]+|-p|--parallel|--recreate|auto)$/

type Base = Pick<Check, 'launchers' | 'words' | 'program' | 'isModule'>

const noOptions = { less: [], unknown: [], more: [], operands: [], forwarded: [] }

function runnerCheck(
  runner: string,
  args: readonly string[],
  base: Base,
  less: readonly string[] = [],
): Check {
  const options = runnerOptions()[runner]
  if (options === undefined) return { ...noOptions, ...base, runner, unknown: args, less }
  const read = readOptions(args, options)
  const isPath = /^(?:files|places)$/.test(options.operands ?? 'files')
  return {
    ...base,
    ...read,
    runner,
    operands: isPath ? read.operands.map(tidy) : read.operands,
    less: [...less, ...read.less],
    forwarded: [],
  }
}

/** `gradle :test`, where the root is the only project. */
function withoutColons(args: readonly string[], { read }: CoveragePlace): readonly string[] {
  const settings = read('settings.gradle') ?? read('settings.gradle.kts') ?? ''
  return /^[ \t]*include/m.test(settings) ? args : args.map((arg) => arg.replace(/^:(?=\w+$)/, ''))
}

function tidy(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '')
}

/** The default pattern of unittest, as it is mostly written: an option and its value. */
const usualPattern = /(?:^| )(?:-p|--pattern) test_?\*\.py(?: |$)/

/** Options of make and Ninja alike, behind `cmake --build DIR --`. */
const builderLook = /^(?:-j\d*|\d+|-k|VERBOSE=\d*)$/

/** The runner that a program and its first words start. */
function runnerOf(
  program: string,
  args: readonly string[],
): { readonly name: string; readonly args: readonly string[]; readonly less?: readonly string[] } | null {
  const [verb = '', ...rest] = args
  switch (program) {
    case 'py.test':
      return { name: 'pytest', args }
    case 'unittest': {
      const own = verb === 'discover' ? rest : args
      // Its start directory is the only place it looks at.
      const at = own.findIndex((arg) => arg === '-s' || arg === '--start-directory')
      const places = own.filter(
        (arg, index) => index !== at && !usualPattern.test(`${own[index - 1]} ${arg} ${own[index + 1]}`),
      )
      // The second one is a pattern for the names of files.
      const less = places.filter((arg) => !arg.startsWith('-')).slice(verb === 'discover' ? 1 : Infinity)
      return { name: 'unittest', args: places, less }
    }
    case 'vitest': {
      if (/^(?:watch|dev|related|bench|list|init)$/.test(verb)) return { name: 'vitest', args, less: [verb] }
      return { name: 'vitest', args: verb === 'run' ? rest : args }
    }
    case 'node':
      return args.includes('--test') ? { name: 'node --test', args } : null
    case 'playwright':
      return verb === 'test' ? { name: program, args: rest } : null
    case 'cargo': {
      const own = verb.startsWith('+') ? rest : args
      if (own[0] === 'test' || own[0] === 't') return { name: 'cargo test', args: own.slice(1) }
      if (own[0] === 'clippy' || own[0] === 'fmt') return { name: `cargo ${own[0]}`, args: own.slice(1) }
      const less = ['nextest, which runs no doc tests']
      return own[0] === 'nextest' && own[1] === 'run'
        ? { name: 'cargo test', args: own.slice(2), less }
        : null
    }
    case 'cmake': {
      const end = args.indexOf('--')
      const passed = end === -1 ? [] : args.slice(end + 1)
      const less = passed.filter((arg) => !builderLook.test(arg))
      return verb === '--build'
        ? { name: 'cmake --build', args: args.slice(1, end === -1 ? undefined : end), less }
        : null
    }
    case 'go':
    case 'meson':
    case 'dotnet':
    case 'mix':
    case 'swift':
    case 'ruff':
    case 'golangci-lint': {
      const name = `${program} ${verb}`
      // `--collect:"XPlat Code Coverage"` is `--collect=…`.
      const own = program === 'dotnet' ? rest.map((arg) => arg.replace(/^(-[-\w]+):/, '$1=')) : rest
      return Object.hasOwn(runnerOptions(), name) ? { name, args: own } : null
    }
    case 'biome':
      return /^(?:check|ci)$/.test(verb) ? { name: 'biome', args: rest } : null
    default:
      return Object.hasOwn(runnerOptions(), program) ? { name: program, args } : null
  }
}

/** gotestsum runs `./...` when nothing else is named. */
function goTestArgs(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  const own = end === -1 ? args.filter((arg) => arg.startsWith('-')) : args.slice(0, end)
  const passed = end === -1 ? args.filter((arg) => !arg.startsWith('-')) : args.slice(end + 1)
  const look =
    /^(?:--(?:format|junitfile|jsonfile|no-color|format-hide-empty-pkg)(?:=.*)?|-f|--no-summary=.*)$/
  const unknown = own.filter((arg) => !look.test(arg))
  const isAll = !passed.some((arg) => !arg.startsWith('-'))
  return [...unknown, ...passed, ...(isAll ? ['./...'] : [])]
}

const npmVerbs: Readonly<Record<string, string>> = { test: 'test', t: 'test', tst: 'test' }

/** Options of package managers that run the script of the root as it is. */
const managerLook =
  /^(?:-s|-q|-d|-dd|--silent|--quiet|--verbose|--no-color|--color|--loglevel(?:=\w+)?|--foreground-scripts|--no-audit|--no-fund|--offline|--prefer-offline|--no-update-notifier|--no-progress|--bun|--reporter=\S+|--stream|--aggregate-output|--cwd=\.|--prefix=\.|--prefix \.)$/

function scriptChecks(
  program: string,
  args: readonly string[],
  base: Base,
  place: CoveragePlace,
): readonly Check[] {
  const unknown: string[] = []
  let index = 0
  if (program === 'pnpm' && /^(?:recursive|multi|m)$/.test(args[0] ?? ''))
    return scriptChecks(program, ['-r', ...args.slice(1)], base, place)
  const option = (): void => {
    const arg = (args[index] ?? '').replace(/^--recursive$/, '-r').replace(/^-ws$/, '--workspaces')
    const isPair = /^--(?:prefix|loglevel|cwd|dir|workspace|filter)$|^-[CwF]$/.test(arg)
    const text = isPair ? `${arg} ${args[index + 1] ?? ''}` : arg
    if (!managerLook.test(text) && !/^--loglevel /.test(text)) unknown.push(text)
    index += isPair ? 2 : 1
  }
  while ((args[index] ?? '').startsWith('-')) option()
  let name = args[index] ?? ''
  index += 1
  if (name === 'run' || name === 'run-script') {
    while ((args[index] ?? '').startsWith('-')) option()
    name = args[index] ?? ''
    index += 1
  } else if (Object.hasOwn(npmVerbs, name)) name = npmVerbs[name] ?? name
  else if (program !== 'yarn' && program !== 'pnpm') return []
  if (name === '') return []
  const forwarded: string[] = []
  for (; index < args.length; ) {
    const arg = args[index] ?? ''
    if (arg === '--') {
      forwarded.push(...args.slice(index + 1))
      break
    }
    // npm keeps options before `--` for itself; the others pass on all that they do not know.
    const isOwn = arg.startsWith('-') && (program === 'npm' || /^(?:-s|--silent)$/.test(arg))
    if (isOwn && program === 'npm' && /^--(?:coverage|run|ci|watch=false|bail)$/.test(arg)) index += 1
    else if (isOwn) option()
    else {
      forwarded.push(arg)
      index += 1
    }
  }
  const isScript = scriptsIn(place.read('package.json')).has(name)
  // `yarn vitest` and `pnpm vitest` start a program of the project when no script has the name.
  if (
    !isScript &&
    (program === 'yarn' || program === 'pnpm') &&
    args.find((arg) => !arg.startsWith('-')) === name &&
    unknown.length === 0
  ) {
    const inner = readChecks([name, ...forwarded], { ...place, read: () => null })
    if (inner.length > 0) return inner.map((each) => ({ ...each, launchers: [program] }))
  }
  return [{ ...noOptions, ...base, runner: `script:${name}`, unknown, forwarded }]
}

/** The scripts of a package.json. */
export function scriptsIn(json: string | null): ReadonlyMap<string, string> {
  const scripts = Object.entries(asObject(parseObject(json ?? '')?.scripts) ?? {})
  return new Map(scripts.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

const makeOptions = {
  look: '-j? --jobs? -s --silent --quiet -k --keep-going -B --always-make --no-print-directory --output-sync= --output-sync -O -w --print-directory --trace -l= --load-average= -d -r -R -C=. --directory=.',
  less: '-n --dry-run --just-print --recon -t --touch -q --question -i --ignore-errors -f= --file= --makefile= -C= --directory= -o= --old-file= -W= --eval= -e --environment-overrides -I= -h --help -v --version',
}

const taskOptions = {
  look: '-v --verbose -s --silent -f --force -y --yes -c --color -x --exit-code -o= --output= -C= --concurrency=',
  less: '-t= --taskfile= -d= --dir= -n --dry -l --list -a --list-all -w --watch --status -g --global --summary',
}

const justOptions = {
  look: '--unstable -v --verbose -q --quiet --color= --highlight --no-highlight --timestamp --yes --explain --time --no-aliases',
  less: '-n --dry-run -f= --justfile= -d= --working-directory= --no-deps --set= --shell= --shell-arg= -l --list --summary --show=',
}

function targetChecks(
  runner: 'make' | 'just' | 'task',
  args: readonly string[],
  base: Base,
  { read: readFile }: CoveragePlace,
): readonly Check[] {
  const known = { make: makeOptions, just: justOptions, task: taskOptions }[runner]
  const options = { ...known, operands: 'none' } as const
  // A bare `-j` takes only a number.
  const own = args.filter((arg) => arg !== '-j' && arg !== '--jobs' && !/^(?:V|VERBOSE)=\d*$/.test(arg))
  const read = readOptions(
    own.filter((arg) => !/^\d+$/.test(arg)),
    options,
  )
  const unknown = [...read.unknown, ...read.operands.filter((each) => each.includes('='))]
  const targets = read.operands.filter((each) => !each.includes('='))
  // The second word of just is an argument, or another recipe.
  const recipes = runner === 'just' ? (readFile('justfile') ?? readFile('Justfile') ?? '') : ''
  const isRecipe = (name: string): boolean => recipes.match(new RegExp(`^@?${name}\\s*:(?!=)`, 'm')) !== null
  if (runner === 'task' && args.includes('--')) unknown.push('--')
  const isPlain = runner !== 'just' || targets.every((name) => /^[\w-]+$/.test(name) && isRecipe(name))
  if (!isPlain) unknown.push(...targets.slice(1))
  const names = targets.length === 0 ? [''] : isPlain ? targets : targets.slice(0, 1)
  return names.map((name) => ({
    ...base,
    ...read,
    unknown,
    operands: [],
    forwarded: [],
    runner: `${runner}:${name}`,
  }))
}

/** Tasks of a build tool; `includes` names the tasks that another one runs first. */
function taskChecks(
  tool: 'gradle' | 'mvn' | 'turbo',
  args: readonly string[],
  base: Base,
  includes: Readonly<Record<string, readonly string[]>>,
): readonly Check[] {
  const read = runnerCheck(tool, args, base)
  const tasks = read.operands.flatMap((task) => [task, ...(includes[task] ?? [])])
  return [...new Set(tasks)].map((task) => ({ ...read, operands: [], runner: `${tool}:${task}` }))
}

/** Directories whose programs are those of the project or of the system. */
const ownPrograms =
  /^(?:\.\/)?(?:\.?venv\/bin|env\/bin|\.?venv\/Scripts|node_modules\/\.bin|vendor\/bin)\/([\w.-]+)$|^bin\/(rspec|phpunit)$/
const systemPrograms = /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?bin\/([\w.-]+)$/
const wrapperScripts = /^(?:\.\/)?(gradlew|mvnw)$/

function withoutLaunchers(
  words: readonly string[],
  root: string,
): Pick<Check, 'launchers' | 'words' | 'isModule'> {
  const { layers } = unwrapCommand(words.map(argOf), 'launched')
  const launchers = layers.slice(0, -1).map(([first]) => first?.value ?? '')
  const [name = '', ...args] = (layers.at(-1) ?? []).map(({ value }) => value)
  const near = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name
  const found = [ownPrograms, systemPrograms, wrapperScripts].map((places) =>
    places
      .exec(near)
      ?.slice(1)
      .find((each) => each !== undefined),
  )
  const versioned = launchers.length === 0 ? near : near.replace(/(?<=\w)@[\w.^~-]+$/, '')
  const program = (found.find((each) => each !== undefined) ?? versioned).replace(/\.exe$/, '')
  const own = withoutModule([program, ...args])
  return { launchers, words: own, isModule: own[0] !== program }
}

/** `python -m pytest -q` is `pytest -q`; so is `coverage run -m pytest -q`. */
function withoutModule(words: readonly string[]): readonly string[] {
  const [program = '', ...args] = words
  if (/^(?:python[\d.]*|py)$/.test(program)) {
    const at = args.findIndex((arg, index) => arg === '-m' || !isPythonLook(arg, args[index - 1]))
    const module = args[at + 1]
    return at === -1 || args[at] !== '-m' || module === undefined
      ? words
      : withoutModule([module, ...args.slice(at + 2)])
  }
  if (program === 'coverage' && args[0] === 'run') {
    const at = args.indexOf('-m')
    const isLook = args
      .slice(1, Math.max(at, 1))
      .every((arg) =>
        /^(?:--(?:branch|parallel-mode|append|timid|source=\S+|omit=\S+|include=\S+|data-file=\S+)|-[pa])$/.test(
          arg,
        ),
      )
    return at === -1 || !isLook ? words : [args[at + 1] ?? '', ...args.slice(at + 2)]
  }
  return words
}

function isPythonLook(arg: string, before: string | undefined): boolean {
  return /^-(?:u|B|q|s|X|W|W\w+|X\w+)$/.test(arg) || before === '-X' || before === '-W'
}
