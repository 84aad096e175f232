import { posix } from 'node:path'
import { anyOf } from '../../core/any-of.ts'
import type { EvidenceKind } from '../../core/evidence.ts'
import { isObject, parseObject } from '../../core/json-fields.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { textInside } from '../../io/read-text-inside.ts'
import { sha256 } from '../../io/sha256.ts'
import { readChecks, scriptsIn } from '../evidence/coverage/read-check.ts'
import { taskFiles, taskScript } from '../evidence/coverage/task-script.ts'
import { provesNothing } from '../evidence/proves-nothing.ts'
import { npmLines } from './machine-state.ts'
import { fingerprint, makeTarget, type ReadText } from './make-target.ts'
import { decidingConftest, pytestSettings } from './pytest-config.ts'
import { isTestFile } from './test-files.ts'

const maxBytes = 1024 * 1024
const maxChars = 2_000

/**
 * How a declared command is defined: its script in package.json, its target, the scripts behind it, its configuration; null when nothing
 * defines it. `nested` are configuration files below the root.
 */
export function commandDefinition(
  root: string,
  command: string,
  kind: EvidenceKind,
  nested: readonly string[] = [],
): string | null {
  const text = (path: string): string | null => textInside(root, path, maxBytes)
  const own = [packageScript(command, text), makeTarget(command, text), otherTask(command, text)]
  const named = [command, ...own.filter((part) => part !== null)].join('\n')
  const parts = [
    ...own,
    packageRunner(command, text),
    scriptFile(command, text),
    ...scriptsBehind(named, text),
    ...sourcedFiles(named, text),
    ...loosened(named, text, nested),
    ...(kind === 'lint' || kind === 'build' ? [] : configurations(named, text, nested)),
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.map(shortened).join('\n')
}

/** The script with its pre and post scripts, and the scripts it calls by name. */
function packageScript(command: string, text: ReadText): string | null {
  const called = /^(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/.exec(command.trim())?.[1]
  if (called === undefined) return null
  const scripts = scriptsIn(text('package.json'))
  const lines: string[] = []
  const seen = new Set<string>()
  const add = (name: string): void => {
    if (seen.has(name) || seen.size > 20) return
    seen.add(name)
    for (const each of [`pre${name}`, name, `post${name}`]) {
      const script = scripts.get(each)
      if (script === undefined) continue
      lines.push(seen.size === 1 && each === name ? script : `${each}: ${script}`)
      for (const [, inner = ''] of script.matchAll(/\b(?:npm|pnpm|yarn|bun)\s+run\s+([\w:.-]+)/g)) add(inner)
    }
  }
  add(called === 't' || called === 'tst' ? 'test' : called)
  return lines.length === 0 ? null : lines.join('\n')
}

/** Lines that leave sources out of a type check or let a test of CTest pass whatever its program does. */
function loosened(named: string, text: ReadText, nested: readonly string[]): readonly string[] {
  return looseLines
    .filter(({ by }) => by.test(named))
    .flatMap(({ path, lines }) =>
      [path, ...nested.filter((each) => each.endsWith(`/${path}`))].flatMap((each) =>
        (text(each)?.match(lines) ?? []).map((line) => `${each}: ${line.replaceAll(/\s+/g, ' ')}`),
      ),
    )
}

const looseLines = [
  {
    by: /\b(?:vue-)?tsc\b/,
    path: 'tsconfig.json',
    lines:
      /"noCheck"\s*:\s*true|"(?:strict\w*|noImplicit\w+|checkJs)"\s*:\s*false|"exclude"\s*:\s*\[[^\]]*\bsrc\b[^\]]*\]/g,
  },
  {
    by: /\bctest\b|\bcmake\b/,
    path: 'CMakeLists.txt',
    lines: anyOf(
      [
        /\bset_(?:tests_properties|property)\s*\([^)]*\b(?:(?:WILL_FAIL|DISABLED|SKIP_RETURN_CODE)\b|PASS_REGULAR_EXPRESSION\s+"?[.*+^$|()?]*"?\s*(?=\)))[^)]*\)/,
        /^[^#\n]*\bNDEBUG\b.*$/,
        /^[^#\n]*\bCMAKE_BUILD_TYPE\b[^#\n]*\b(?:Rel\w*|MinSizeRel)\b.*$/,
        /\badd_test\s*\([^)]*\bCOMMAND\s+(?:(?:ba)?sh\s+-c\s+["']?(?:[^"'\n)]*(?:;|\|\|)\s*)?(?:true|:|exit 0)|true|:|echo|\$\{CMAKE_COMMAND\}\s+-E\s+(?:true|echo\w*))(?=[\s)"'])[^)]*\)/,
      ],
      'gm',
    ),
  },
] as const

/** Settings of a package manager that change the shell, the options or the program of its scripts. */
function packageRunner(command: string, text: ReadText): string | null {
  const runner = /^(?:npm|npx|pnpm|yarn|bun|bunx)\b/.exec(command.trim())?.[0]
  if (runner === undefined) return null
  const lines = (path: string, wanted: RegExp): readonly string[] =>
    (text(path)?.match(wanted) ?? []).map((line) => `${path}: ${line.trim()}`)
  const whole = (path: string): readonly string[] => fingerprint(path, text(path))
  const found = [
    ...(runner.startsWith('bun') ? whole('bunfig.toml') : lines('.npmrc', npmLines)),
    ...(runner === 'pnpm'
      ? lines('pnpm-workspace.yaml', /^[ \t]*(?:scriptShell|shellEmulator|nodeOptions)\s*:.*$/gm)
      : []),
    ...(runner === 'yarn' ? [...whole('.yarnrc.yml'), ...whole('.yarnrc')] : []),
  ]
  return found.length === 0 ? null : found.join('\n')
}

/** A task of Rake, Deno, Poe or a Taskfile, a recipe of a justfile, a script of PDM, Hatch or Composer. */
function otherTask(command: string, text: ReadText): string | null {
  const line = command.trim()
  if (/^(?:bundle exec )?rake\b/.test(line)) return fingerprint('Rakefile', text('Rakefile'))[0] ?? null
  const place = { root: '/', read: text, tests: [] }
  const [check] = readChecks(line.split(/\s+/), place)
  const [, program] = /^(just|task|pdm|hatch|poe):/.exec(check?.runner ?? '') ?? []
  if (check !== undefined && program !== undefined) {
    const names = program === 'just' || program === 'task' ? taskFiles[program] : ['pyproject.toml']
    const file = names.find((each) => text(each) !== null) ?? ''
    return taskScript(check, place) ?? fingerprint(file, text(file))[0] ?? null
  }
  const [, tool, name = ''] = /^(deno task|composer(?: run(?:-script)?)?)\s+([\w:.-]+)/.exec(line) ?? []
  if (tool === undefined) return null
  const files = tool === 'deno task' ? ['deno.json', 'deno.jsonc'] : ['composer.json']
  for (const file of files) {
    const tasks = parseObject(text(file) ?? '')?.[tool === 'deno task' ? 'tasks' : 'scripts']
    const task = isObject(tasks) && Object.hasOwn(tasks, name) ? tasks[name] : undefined
    if (task !== undefined) return typeof task === 'string' ? task : JSON.stringify(task)
  }
  return null
}

/** Scripts of the project that the definition starts: the checks in them, or their hash when there are none. */
function scriptsBehind(named: string, text: ReadText): readonly string[] {
  const started =
    /(?:^|[\n;&|(\t @+-]|\b(?:(?:ba|z|da|k)?sh|node|tsx|ts-node|python[\d.]*|ruby|perl|php|source|exec)\s+(?:-[\w-]+\s+)*)((?:\.\/)?[\w./-]+\.(?:sh|bash|[cm]?[jt]s|py|rb|pl|php)|\.\/[\w./-]+)(?=$|[\s;&|)])/gm
  const paths = new Set(
    [...named.replaceAll(onlyParsing, '').matchAll(started)].map(([, path = '']) =>
      path.replace(/^\.\//, ''),
    ),
  )
  return [...paths].slice(0, 10).flatMap((path) => {
    if (path.startsWith('/') || isTestFile(path) || /^(?:dist|build|out|node_modules|target)\//.test(path))
      return []
    const content = text(path)
    // A program is not a script: it is built from files of the tree.
    const isNone = content === null || content.includes('\0')
    return isNone || named.split('\n', 1)[0]?.includes(path) === true
      ? []
      : [`${path}: ${essence(path, content)}`]
  })
}

/** A look at the syntax of files, which starts none of them. */
const onlyParsing =
  /\b(?:node\s+(?:--check|-c)|(?:ba|z|da|k)?sh\s+-n|(?:ruby|perl)\s+-c|php\s+-l)(?:\s+[\w./-]+)+/g

/** What files that a shell script loads say about how it ends: they could end it, or give the commands of its tests another meaning. */
function sourcedFiles(named: string, text: ReadText): readonly string[] {
  const scripts = [...named.matchAll(/[\w./-]+\.(?:ba)?sh\b/g)].map(([path]) => posix.normalize(path))
  const loaded = new Set<string>()
  for (const script of scripts.slice(0, 10))
    for (const [, name = ''] of text(script)?.matchAll(sourcing) ?? [])
      for (const path of [posix.normalize(name), posix.join(posix.dirname(script), name)]) loaded.add(path)
  return [...loaded].flatMap((path) =>
    path.startsWith('.') ? [] : fingerprint(path, text(path)?.match(decidingShell)?.join('\n') ?? null),
  )
}

const sourcing = /^[ \t]*(?:\.|source)[ \t]+["']?(?:\$\(dirname "?\$0"?\)\/|\$\{?\w+\}?\/)?([\w./-]+)/gm
const decidingShell =
  /^[ \t]*(?:exit\b|trap\b.*\bexit\b|set [-+]|alias\b|(?:function[ \t]+)?(?:test|\[|assert\w*|diff|cmp|grep|set|exit)[ \t]*\(\)|(?:case|if|\[).*\$\{?(?:0|BASH_SOURCE)\b).*$/gm

/** What a script behind a command checks. Other edits of it do not matter. */
function essence(path: string, content: string): string {
  const code = content.replaceAll(/^[ \t]*(?:#|\/\/).*$/gm, '').trim()
  if (code === '') return 'is empty'
  if (!/\.(?:ba)?sh$|^[^.]*$/.test(path))
    return /^(?:process\.exit\(0?\)|(?:import sys\s+)?(?:sys\.)?exit\(0?\)|exit)/.test(code)
      ? 'ends at once'
      : failing.test(code)
        ? 'runs'
        : 'never fails by itself'
  const why = provesNothing(content.replace(/^#!.*\n/, ''))
  const hash = `(${sha256(content.trim()).slice(0, 12)})`
  if (why !== null) return `${why} ${hash}`
  const lines = code.split('\n').map((line) => line.trim())
  const checks = lines.filter(
    (line) => kindOfCommand(line) !== 'other' || /^(?:exit|trap|set \+e)\b/.test(line),
  )
  return checks.length === 0 ? hash : checks.join('; ')
}

const failing =
  /\b(?:exit|exitCode|exec\w*|spawn\w*|run|system|abort|throw|raise|assert|die|reject|require|import)\b/

/** A script of the project itself: `./check.sh`, `bash scripts/check.sh`, `python tools/check.py`. */
function scriptFile(command: string, text: ReadText): string | null {
  const words = command.trim().split(/\s+/)
  const isRunner = /^(?:(?:ba|z|k|da)?sh|node|python[\d.]*|ruby|perl|php|deno|bun)$/.test(words[0] ?? '')
  const word = (isRunner ? words[1] : words[0]) ?? ''
  if (!word.includes(isRunner ? '.' : '/') || word.startsWith('/')) return null
  const path = word.replace(/^\.\//, '')
  const content = text(path)
  return content === null ? null : scriptLines(path, content).join('\n')
}

/**
 * A script. In one that `set -e` ends at the first failure, and that has no branches, each comparison is a line of its own, without the value
 * that it expects.
 */
function scriptLines(path: string, content: string): readonly string[] {
  const lines = content.split('\n').map((line) => line.trim())
  const [first = '', ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const isFlat = /^set -e[uox]*(?: pipefail)?$/.test(first) && rest.every((line) => plainLine.test(line))
  const compared = isFlat ? rest.flatMap((line) => comparing.exec(line)?.[1] ?? []) : []
  const others = compared.length === 0 ? content : [first, ...rest.filter((line) => !comparing.test(line))]
  return [...fingerprint(path, [others].flat().join('\n')), ...compared.map((left) => `${path}: ${left}`)]
}

/** One command that is not followed by another and does not change what later ones mean. */
const plainLine =
  /^(?!(?:if|for|while|until|case|function|exit|return|trap|exec|eval|alias|set|source|export|unset|PATH|ENV)\b|[.{(!:])(?:[^"'\\;&|<>(){}`]|"(?:[^"\\`;&|<>]|>&1|>\/dev\/null)*"|'[^']*')+$/
/** Compares what a command prints or a variable has with a value. */
const comparing = /^((?:\[|test) "(?=[^"]*\$)[^"\\]*" (?:==?|-eq)) (?:"[^"$`\\]*"|'[^']*'|[\w.-]+)(?: \])?$/
/** Such a line in a definition. */
export const comparison = /^[\w./-]+: (?:\[|test) ".*" (?:==?|-eq)$/

/** Configuration of the frameworks that the command or its script names, and files that it names itself. */
function configurations(named: string, text: ReadText, nested: readonly string[]): readonly string[] {
  const known = frameworkFiles(named, text, nested)
  const asked = [...named.matchAll(/\s(?:-c|--config(?:-file)?|-r|--require|--import)(?:\s+|=)([\w./-]+)/g)]
  // A compiler takes its source after `-c`.
  const paths = asked.flatMap(([, path = '']) => (/\.(?:c|cc|cpp|cxx|m|mm|s|f90)$/i.test(path) ? [] : [path]))
  return [...new Set([...known, ...paths.flatMap((path) => fingerprint(path, text(path)))])]
}

function shortened(definition: string): string {
  return definition.length <= maxChars
    ? definition
    : `${definition.slice(0, maxChars)}… (${sha256(definition).slice(0, 12)})`
}

/** Names of files that configure a framework in every directory. */
export const nestedNames = new Set([
  'conftest.py',
  'pytest.ini',
  '.pytest.ini',
  'pytest.toml',
  'entry_points.txt',
  'Cargo.toml',
  'CMakeLists.txt',
  'meson.build',
  'Directory.Build.props',
  'Directory.Build.targets',
  'go.mod',
])

/** The configuration files of the frameworks that a command names, each with a hash of the relevant part. */
function frameworkFiles(named: string, text: ReadText, nested: readonly string[]): readonly string[] {
  return configured
    .filter(({ by }) => by.test(named))
    .flatMap(({ files }) =>
      files.flatMap((file) => {
        const [name, section] = typeof file === 'string' ? [file, null] : file
        const below = nestedNames.has(name) ? nested.filter((path) => path.endsWith(`/${name}`)) : []
        return [name, ...below].flatMap((path) => {
          const content = text(path)
          if (content === null) return []
          const part = partOf(content, section)
          // Of a package only what the framework reads: not its programs and its main file.
          const loading = path.endsWith('package.json') ? (part ?? '') : content
          return [...fingerprint(path, part), ...loadedFiles(path, loading, text)]
        })
      }),
    )
}

/** What modules that a configuration or a conftest.py loads say about which tests run and how they end. */
function loadedFiles(path: string, content: string, text: ReadText): readonly string[] {
  const directory = posix.dirname(path)
  const isPython = path.endsWith('conftest.py')
  if (!isPython && !/\.(?:[cm]?[jt]s|json|ya?ml)$|rc$/.test(path)) return []
  const plugins = /\bpytest_plugins\s*=\s*(?:\[[^\]]*\]|\([^)]*\)|.*)/.exec(content)?.[0] ?? ''
  const names = isPython
    ? [
        ...[...content.matchAll(/^(?:from|import)\s+\.*([\w.]+)/gm)].map(([, name = '']) => name),
        ...[...plugins.matchAll(/["']([\w.]+)["']/g)].map(([, name = '']) => name),
      ].map((name) => `${name.replaceAll('.', '/')}.py`)
    : [...content.matchAll(/["'](?:<rootDir>\/)?(\.{0,2}[\w@/-][\w@./-]*)["']/g)]
        .map(([, name = '']) => name)
        .filter((name) => /^\.|\/|\.[cm]?[jt]s$/.test(name))
        .flatMap((name) => [name, `${name}.ts`, `${name}.js`])
  const places = new Set(
    names.slice(0, 60).flatMap((name) => [posix.join(directory, name), ...(isPython ? [name] : [])]),
  )
  return [...places].flatMap((place) => {
    const loaded = place.startsWith('..') || place === path ? null : text(place)
    return loaded === null
      ? []
      : fingerprint(place, isPython ? decidingConftest(loaded) : decidingLines(loaded))
  })
}

const decidingLines = allOf(
  /^.*(?:\bprocess\.(?:exit|reallyExit|abort|kill)\b|\bprocess\.on\(\s*['"](?:exit|beforeExit)|\bexitCode\s*=|\bglobalThis\.(?:test|it|describe|expect)\b|\b(?:expect|assert)\.\w+\s*=(?![=>])|\bto(?:Be|Equal|StrictEqual|Throw|Contain|Match)\b\s*[:(]|\b(?:include|exclude|testMatch|testRegex|testPathIgnorePatterns|testNamePattern|passWithNoTests)\b\s*[:=]).*$/gm,
)

/** The relevant part of a file. */
type Section = RegExp | ((text: string) => string | null)

/** A file, or a file of which only a part matters. */
type ConfigFile = string | readonly [string, Section]

const configured: readonly { readonly by: RegExp; readonly files: readonly ConfigFile[] }[] = [
  {
    by: /\b(?:pytest|py\.test|tox|nox)\b/,
    files: [
      ['pytest.ini', pytestSettings],
      ['.pytest.ini', pytestSettings],
      ['pytest.toml', pytestSettings],
      ['pyproject.toml', pytestIn(/^\[tool\.pytest[^\]]*\][\s\S]*?(?=^\[(?!tool\.pytest)|(?![\s\S]))/m)],
      ['setup.cfg', pytestIn(/^\[tool:pytest\][\s\S]*?(?=^\[|(?![\s\S]))/m)],
      ['tox.ini', pytestIn(/^\[pytest\][\s\S]*?(?=^\[|(?![\s\S]))/m)],
      ['conftest.py', decidingConftest],
      // Of a distribution in the project, which pytest finds on the search path.
      ['entry_points.txt', /^\[pytest11\][\s\S]*?(?=^\[|(?![\s\S]))/m],
    ],
  },
  // Modules of the project that would be loaded instead of the real ones.
  {
    by: /\b(?:pytest|py\.test|python[\d.]*|unittest)\b/,
    files: ['pytest', '_pytest', 'unittest', 'sitecustomize', 'usercustomize'].flatMap((name) => [
      `${name}.py`,
      `${name}/__init__.py`,
      `${name}/__main__.py`,
    ]),
  },
  { by: /\btox\b/, files: [['tox.ini', /^\[(?:tox|testenv)[\s\S]*?(?=^\[(?!tox|testenv)|(?![\s\S]))/m]] },
  { by: /\bnox\b/, files: ['noxfile.py'] },
  { by: /\bvitest\b/, files: ['vitest.config', 'vitest.workspace', 'vite.config'].flatMap(scriptConfigs) },
  {
    by: /\bjest\b/,
    files: [...scriptConfigs('jest.config'), 'jest.config.json', ['package.json', keyOf('jest')]],
  },
  {
    by: /\bmocha\b/,
    files: [
      ...['json', 'yml', 'yaml', 'jsonc', 'js', 'cjs', 'mjs'].map((extension) => `.mocharc.${extension}`),
      ['package.json', keyOf('mocha')],
    ],
  },
  { by: /\bplaywright\b/, files: configNames('playwright.config') },
  { by: /\bphpunit\b/, files: ['phpunit.xml', 'phpunit.xml.dist'] },
  {
    by: /\brspec\b/,
    files: [
      '.rspec',
      '.rspec-local',
      ['spec/spec_helper.rb', allOf(/^.*(?:filter_run|exclusion|\bexit\b|at_exit|around).*$/gm)],
    ],
  },
  {
    by: /\bdeno\b/,
    files: ['deno.json', 'deno.jsonc'].flatMap((file) => [
      [file, keyOf('test')],
      [file, mappedFiles],
    ]),
  },
  { by: /\b(?:node|vitest|jest|mocha|ava)\b/, files: [['package.json', mappedFiles]] },
  {
    by: /\bmeson\b/,
    files: [
      [
        'meson.build',
        allOf(/^.*\b(?:(?:test|add_test_setup|subdir|subdir_done)[ \t]*\(|(?:should_fail|b_ndebug)\b).*$/gm),
      ],
    ],
  },
  { by: /\bctest\b|\bcmake\b/, files: ['CTestCustom.cmake', 'CTestTestfile.cmake'] },
  {
    by: /\bdotnet\b/,
    files: [
      '.runsettings',
      ...['Directory.Build.props', 'Directory.Build.targets'].map(
        (file): ConfigFile => [
          file,
          allOf(/.*(?:IsTestProject|VSTest|RunSettings|TestCaseFilter|<Exec\b|Target Name).*/g),
        ],
      ),
    ],
  },
  {
    by: /\bmix\b/,
    files: [
      ['test/test_helper.exs', allOf(/^.*(?:exclude|include|only|System\.halt|exit).*$/gm)],
      ['mix.exs', allOf(/^.*(?:test_paths|test_pattern|aliases|test:|"test").*$/gm)],
    ],
  },
  { by: /\bava\b/, files: [...configNames('ava.config'), ['package.json', keyOf('ava')]] },
  { by: /\bcypress\b/, files: configNames('cypress.config') },
  {
    by: /\bcargo\b/,
    files: [
      '.cargo/config.toml',
      '.cargo/config',
      // A toolchain in a directory is any program that is called cargo.
      ['rust-toolchain.toml', /^[ \t]*path\s*=.*$/m],
      [
        'Cargo.toml',
        allOf(
          /^[ \t]*(?:autotests|harness|test|doctest|required-features|default-members|exclude|debug-assertions|overflow-checks)\s*=.*$/gm,
        ),
      ],
    ],
  },
  // A module in a directory takes its tests out of `./...`.
  { by: /\bgo\b/, files: [['go.mod', /^module\b/m]] },
  {
    by: /\bmvnw?\b/,
    files: [
      '.mvn/maven.config',
      [
        'pom.xml',
        allOf(
          /<(?:skip\w*|test|maven\.test\.\w+(?:\.\w+)?|testFailureIgnore|enableAssertions|excludedGroups|groups|testSourceDirectory)>[^<]*|<exclude>[^<]*(?:Test|IT|\*\*)[^<]*|<include>[^<]*(?:Tests?|IT|\.java|\.class)(?=<)/g,
        ),
      ],
    ],
  },
  {
    by: /\b(?:mvnw?|gradlew?)\b/,
    files: [
      ['src/test/resources/junit-platform.properties', allOf(/^.*(?:autodetection|conditions|exclude).*$/gm)],
      ...[
        'jupiter.api.extension.Extension',
        'platform.launcher.TestExecutionListener',
        'platform.launcher.PostDiscoveryFilter',
        'platform.launcher.LauncherSessionListener',
      ].map((name) => `src/test/resources/META-INF/services/org.junit.${name}`),
    ],
  },
  {
    by: /\bgradlew?\b/,
    files: ['build.gradle', 'build.gradle.kts'].map((file) => [
      file,
      allOf(
        /^.*\b(?:ignoreFailures|enabled|onlyIf|enableAssertions|exclude\w*|failOnNo\w*|includeTestsMatching|setTestClassesDirs|testClassesDirs)\b.*$/gm,
      ),
    ]),
  },
]

/** The value of a key of a JSON file, independent of its layout. */
function keyOf(key: string): (text: string) => string | null {
  return (text) => {
    const value = parseObject(text)?.[key]
    if (!isObject(value)) return value === undefined ? null : JSON.stringify(value)
    const rest = Object.entries(value).filter(
      ([name, set]) => !isLook(name) || !/^(?:true|false|\d+|"[\w-]+")$/.test(JSON.stringify(set)),
    )
    return rest.length === 0 ? null : JSON.stringify(Object.fromEntries(rest))
  }
}

/** Names that lead to one file of the project, whose place another file could take. A package that has the name of a dependency is that. */
function mappedFiles(text: string): string | null {
  const { imports, name, dependencies, devDependencies } = parseObject(text) ?? {}
  const entries = isObject(imports) ? Object.entries(imports) : []
  const isTaken = [dependencies, devDependencies].some(
    (each) => isObject(each) && typeof name === 'string' && Object.hasOwn(each, name),
  )
  if (isTaken) entries.push([String(name), './index.js'])
  const files = entries.filter(([, target]) => /"\.{1,2}\/[^"*]+\.[cm]?[jt]sx?"/.test(JSON.stringify(target)))
  return files.length === 0 ? null : JSON.stringify(files.toSorted())
}

function pytestIn(section: RegExp): (text: string) => string | null {
  return (text) => pytestSettings(section.exec(text)?.[0] ?? null)
}

function allOf(lines: RegExp): (text: string) => string | null {
  return (text) => text.match(lines)?.join('\n') ?? null
}

/** Settings of JavaScript runners that neither choose tests nor decide how they end. */
const looks =
  '(?:environment|testEnvironment|globals|clearMocks|mockReset|resetMocks|restoreMocks|unstubEnvs|unstubGlobals|testTimeout|hookTimeout|verbose|css)'

function isLook(name: string): boolean {
  return new RegExp(`^${looks}$`).test(name)
}

/** Without such settings. A new file is named even if nothing is left: another one may have been in force. */
function decidingConfig(text: string): string {
  const line = new RegExp(
    String.raw`(^|[{,])\s*${looks}:\s*(?:true|false|[\d_]+|(['"])[\w-]+\2),?\s*(?=$|\})`,
    'gm',
  )
  const rest = text.replaceAll(line, '$1 ').replaceAll(/\s+/g, ' ').trim()
  return plainConfig.test(rest) ? onlyLooks : rest
}

const onlyLooks = 'nothing that chooses tests'
const plainConfig =
  /^(?:\/\/\/ <reference types="[\w/]+" \/> )?(?:import \{ defineConfig \} from (["'])(?:vitest\/config|vite)\1;? )?(?:export default|module\.exports =) (?:defineConfig\()?\{ (?:test: \{ \},? )?\}\)?;?$/

/** Whether a line of a definition is a configuration of a runner without settings that matter, where the definition before had none. */
export function isPlainConfig(line: string, before: string): boolean {
  const [, path = '', name = ''] = /^((vitest|jest)\.config\.\w+) /.exec(line) ?? []
  const others = name === 'vitest' ? /^vite(?:st)?\.(?:config|workspace)/m : /^jest\.config|^package\.json /m
  return path !== '' && !others.test(before) && fingerprint(path, onlyLooks).includes(line)
}

function scriptConfigs(name: string): readonly ConfigFile[] {
  return configNames(name).map((file) => [file, decidingConfig])
}

function configNames(name: string): readonly string[] {
  return ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((extension) => `${name}.${extension}`)
}

function partOf(content: string, section: Section | null): string | null {
  if (section === null) return content
  return typeof section === 'function' ? section(content) : (section.exec(content)?.[0] ?? null)
}
