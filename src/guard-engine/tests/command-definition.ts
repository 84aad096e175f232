import type { EvidenceKind } from '../../core/evidence.ts'
import { readTextInside } from '../../io/files.ts'
import { sha256 } from '../../io/sha256.ts'

const maxBytes = 1024 * 1024
const maxChars = 400

/** How a declared command is defined: its script in package.json, its target, its configuration; null when nothing defines it. */
export function commandDefinition(root: string, command: string, kind: EvidenceKind): string | null {
  const text = (path: string): string | null => {
    const read = readTextInside(root, path, { maxBytes })
    return read.kind === 'text' ? read.text : null
  }
  const parts = [
    packageScript(command, text),
    makeTarget(command, text),
    packageRunner(command, text),
    scriptFile(command, text),
    ...(kind === 'lint' || kind === 'build' ? [] : configurations(command, text)),
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.map(shortened).join('\n')
}

type ReadText = (path: string) => string | null

/** The script with what runs before and after it, and the scripts it calls by name. */
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

/** Settings of a package manager that put another shell, other options or another program under its scripts. */
function packageRunner(command: string, text: ReadText): string | null {
  const runner = /^(?:npm|npx|pnpm|yarn|bun|bunx)\b/.exec(command.trim())?.[0]
  if (runner === undefined) return null
  const lines = (path: string, wanted: RegExp): readonly string[] =>
    (text(path) ?? '')
      .split('\n')
      .filter((line) => wanted.test(line))
      .map((line) => `${path}: ${line.trim()}`)
  const whole = (path: string): readonly string[] => fingerprint(path, text(path))
  const found = [
    ...(runner.startsWith('bun') ? whole('bunfig.toml') : lines('.npmrc', npmSetting)),
    ...(runner === 'pnpm'
      ? lines('pnpm-workspace.yaml', /^\s*(?:scriptShell|shellEmulator|nodeOptions)\s*:/)
      : []),
    ...(runner === 'yarn' ? [...whole('.yarnrc.yml'), ...whole('.yarnrc')] : []),
  ]
  return found.length === 0 ? null : found.join('\n')
}

/** Not those about registries: they may hold keys, and change nothing about what runs. */
const npmSetting =
  /^\s*["']?(?:script-shell|node-options|ignore-scripts|shell-emulator|prefix|if-present|workspaces?|include-workspace-root)["']?(?:\[\])?\s*(?:=|$)/

function scriptsIn(json: string | null): ReadonlyMap<string, string> {
  const scripts = jsonEntries(json).get('scripts')
  const entries = Object.entries(typeof scripts === 'object' && scripts !== null ? scripts : {})
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

function makeTarget(command: string, text: ReadText): string | null {
  const target = /^g?make\s+([\w.-]+)$/.exec(command.trim())?.[1]
  if (target === undefined) return null
  for (const file of ['GNUmakefile', 'makefile', 'Makefile']) {
    const lines = text(file)?.split('\n') ?? []
    const start = lines.findIndex((line) => line.startsWith(`${target}:`))
    if (start < 0) continue
    const length = lines.slice(start + 1).findIndex((line) => line !== '' && !/^[\t #]/.test(line))
    const recipe = lines.slice(start, length < 0 ? undefined : start + 1 + length)
    return recipe.join('\n').trimEnd()
  }
  return null
}

/** A script of the project itself: `./check.sh`, `bash scripts/check.sh`, `python tools/check.py`. */
function scriptFile(command: string, text: ReadText): string | null {
  const words = command.trim().split(/\s+/)
  const isRunner = /^(?:(?:ba|z|k|da)?sh|node|python[\d.]*|ruby|perl|php|deno|bun)$/.test(words[0] ?? '')
  const word = (isRunner ? words[1] : words[0]) ?? ''
  if (!word.includes(isRunner ? '.' : '/') || word.startsWith('/')) return null
  const path = word.replace(/^\.\//, '')
  return fingerprint(path, text(path))[0] ?? null
}

/** Configuration of the frameworks that the command, or the script behind it, names, and what it names itself. */
function configurations(command: string, text: ReadText): readonly string[] {
  const named = `${command}\n${packageScript(command, text) ?? ''}\n${makeTarget(command, text) ?? ''}`
  const known = frameworkFiles(named, text)
  const asked = [...named.matchAll(/\s(?:-c|--config(?:-file)?|-r|--require|--import)(?:\s+|=)([\w./-]+)/g)]
  return [...new Set([...known, ...asked.flatMap(([, path = '']) => fingerprint(path, text(path)))])]
}

function shortened(definition: string): string {
  return definition.length <= maxChars
    ? definition
    : `${definition.slice(0, maxChars)}… (${sha256(definition).slice(0, 12)})`
}

/** The files that configure the frameworks a command names, each with a hash of the part that matters. */
function frameworkFiles(named: string, text: (path: string) => string | null): readonly string[] {
  return configured
    .filter(({ by }) => by.test(named))
    .flatMap(({ files }) =>
      files.flatMap(([path, section]) => {
        const content = text(path)
        return fingerprint(path, content === null ? null : partOf(content, section))
      }),
    )
}

/** A part of a file that matters; null for all of it. */
type Section = RegExp | ((text: string) => string | null) | null

const configured: readonly { readonly by: RegExp; readonly files: readonly [string, Section][] }[] = [
  {
    by: /\b(?:pytest|py\.test|tox|nox)\b/,
    files: [
      ['pytest.ini', null],
      ['.pytest.ini', null],
      ['pytest.toml', null],
      ['pyproject.toml', /^\[tool\.pytest[^\]]*\][\s\S]*?(?=^\[(?!tool\.pytest)|(?![\s\S]))/m],
      ['setup.cfg', /^\[tool:pytest\][\s\S]*?(?=^\[|(?![\s\S]))/m],
      ['tox.ini', null],
      ['conftest.py', null],
    ],
  },
  { by: /\bvitest\b/, files: ['vitest.config', 'vitest.workspace', 'vite.config'].flatMap(configNames) },
  {
    by: /\bjest\b/,
    files: [...configNames('jest.config'), ['jest.config.json', null], ['package.json', keyOf('jest')]],
  },
  {
    by: /\bmocha\b/,
    files: [
      ['.mocharc.json', null],
      ['.mocharc.yml', null],
      ['.mocharc.yaml', null],
      ['.mocharc.jsonc', null],
      ['.mocharc.js', null],
      ['.mocharc.cjs', null],
      ['.mocharc.mjs', null],
      ['package.json', keyOf('mocha')],
    ],
  },
  { by: /\bplaywright\b/, files: configNames('playwright.config') },
  {
    by: /\bphpunit\b/,
    files: [
      ['phpunit.xml', null],
      ['phpunit.xml.dist', null],
    ],
  },
  { by: /\brspec\b/, files: [['.rspec', null]] },
  { by: /\bava\b/, files: [...configNames('ava.config'), ['package.json', keyOf('ava')]] },
  { by: /\bcypress\b/, files: configNames('cypress.config') },
  {
    by: /\bcargo\b/,
    files: [
      ['.cargo/config.toml', null],
      ['.cargo/config', null],
    ],
  },
  {
    by: /\bmvnw?\b/,
    files: [
      ['.mvn/maven.config', null],
      ['pom.xml', allOf(/<(?:skip\w*|maven\.test\.\w+(?:\.\w+)?|testFailureIgnore)>[^<]*/g)],
    ],
  },
  {
    by: /\bgradlew?\b/,
    files: ['build.gradle', 'build.gradle.kts'].map((file) => [
      file,
      allOf(/^.*\b(?:ignoreFailures|enabled|onlyIf|exclude\w*)\b.*$/gm),
    ]),
  },
]

/** The value of a key of a JSON file, whatever its layout. */
function keyOf(key: string): (text: string) => string | null {
  return (text) => {
    const value = jsonEntries(text).get(key)
    return value === undefined ? null : JSON.stringify(value)
  }
}

function allOf(lines: RegExp): (text: string) => string | null {
  return (text) => text.match(lines)?.join('\n') ?? null
}

function configNames(name: string): [string, null][] {
  return ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((extension) => [`${name}.${extension}`, null])
}

function partOf(content: string, section: Section): string | null {
  if (section === null) return content
  return typeof section === 'function' ? section(content) : (section.exec(content)?.[0] ?? null)
}

/** The keys of a JSON object; none of what is no object. */
function jsonEntries(json: string | null): ReadonlyMap<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(json ?? '{}')
    return new Map(Object.entries(typeof parsed === 'object' && parsed !== null ? parsed : {}))
  } catch {
    return new Map()
  }
}

/** A file in a definition: its name and a hash, so that it shows when it changed and not what it holds. Nothing for one that is not there. */
function fingerprint(path: string, content: string | null): readonly string[] {
  return content === null ? [] : [`${path} (${sha256(content.trim()).slice(0, 12)})`]
}
