import { fingerprint } from './fingerprint.ts'
import { jsonEntries } from './json-entries.ts'

/** The files that configure the frameworks a command names, each with a hash of the part that matters. */
export function frameworkFiles(named: string, text: (path: string) => string | null): readonly string[] {
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
