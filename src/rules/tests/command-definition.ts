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

/** Settings of npm that put another shell or other options under its scripts. */
function packageRunner(command: string, text: ReadText): string | null {
  if (!/^(?:npm|npx|pnpm|yarn)\b/.test(command.trim())) return null
  const lines = (text('.npmrc') ?? '')
    .split('\n')
    .filter((line) => /^\s*(?:script-shell|node-options|ignore-scripts|shell-emulator|prefix)\s*=/.test(line))
  return lines.length === 0 ? null : lines.map((line) => `.npmrc: ${line.trim()}`).join('\n')
}

function scriptsIn(json: string | null): ReadonlyMap<string, string> {
  try {
    const parsed: unknown = JSON.parse(json ?? '{}')
    const scripts = typeof parsed === 'object' && parsed !== null && 'scripts' in parsed ? parsed.scripts : {}
    const entries = Object.entries(typeof scripts === 'object' && scripts !== null ? scripts : {})
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return new Map()
  }
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
  const content = text(path)
  return content === null ? null : `${path} (${sha256(content).slice(0, 12)})`
}

const configured: readonly { readonly by: RegExp; readonly files: readonly [string, RegExp | null][] }[] = [
  {
    by: /\b(?:pytest|py\.test|tox|nox)\b/,
    files: [
      ['pytest.ini', null],
      ['pyproject.toml', /^\[tool\.pytest[^\]]*\][\s\S]*?(?=^\[(?!tool\.pytest)|(?![\s\S]))/m],
      ['setup.cfg', /^\[tool:pytest\][\s\S]*?(?=^\[|(?![\s\S]))/m],
      ['tox.ini', null],
      ['conftest.py', null],
    ],
  },
  { by: /\bvitest\b/, files: configNames('vitest.config').concat(configNames('vite.config')) },
  {
    by: /\bjest\b/,
    files: [
      ...configNames('jest.config'),
      ['jest.config.json', null],
      ['package.json', /"jest"\s*:\s*\{[\s\S]*?\n {2}\}/],
    ],
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
]

function configNames(name: string): [string, null][] {
  return ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((extension) => [`${name}.${extension}`, null])
}

/** Configuration of the frameworks that the command, or the script behind it, names. */
function configurations(command: string, text: ReadText): readonly string[] {
  const named = `${command}\n${packageScript(command, text) ?? ''}\n${makeTarget(command, text) ?? ''}`
  return configured
    .filter(({ by }) => by.test(named))
    .flatMap(({ files }) =>
      files.flatMap(([path, section]) => {
        const content = text(path)
        const part = content === null || section === null ? content : (section.exec(content)?.[0] ?? null)
        return part === null ? [] : [`${path} (${sha256(part.trim()).slice(0, 12)})`]
      }),
    )
}

function shortened(definition: string): string {
  return definition.length <= maxChars
    ? definition
    : `${definition.slice(0, maxChars)}… (${sha256(definition).slice(0, 12)})`
}
