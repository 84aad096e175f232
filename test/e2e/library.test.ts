import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as library from '../../src/index.ts'
import { programDirectory } from '../support/program.ts'
import { type Fence, fencesOf, readDocument, root } from './support/documents.ts'
import { makeProject, type TestProject } from './support/project.ts'

const run = promisify(execFile)
const page = readDocument('docs/library.md')
const sections = new Map(
  page.text.split(/^### /m).map((section) => [section.slice(0, section.indexOf('\n')), section]),
)
const examples = fencesOf(page).filter(({ language }) => language === 'ts')

test('every exported value has a section with an example that uses it', () => {
  const silent = Object.keys(library).filter((name) => {
    const example = /^```ts \S+\n([\s\S]*?)^```$/m.exec(sections.get(name) ?? '')?.[1] ?? ''
    return !new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from 'gantry'`).test(example)
  })
  expect(silent).toEqual([])
})

test('no section is about something that is not exported', () => {
  const documented = [...sections.keys()].filter((name) => !name.startsWith('# '))
  expect(documented.filter((name) => !Object.hasOwn(library, name))).toEqual([])
})

test.concurrent.each(examples.map((example) => [nameOf(example), example] as const))(
  'the example of %s prints what its comments say',
  async (_, example) => {
    using project = projectOf(example)
    const { stdout, stderr } = await run(process.execPath, ['example.mts'], {
      cwd: project.dir,
      env: environmentOf(project),
    })
    expect(stderr).toBe('')
    const printed = stdout.trimEnd().split('\n')
    const expected = promisesOf(example.text)
    const isOpen = expected.at(-1) === '…'
    const wanted = isOpen ? expected.slice(0, -1) : expected
    expect(wanted.length).toBeGreaterThan(0)
    expect(isOpen ? printed.slice(0, wanted.length) : printed).toEqual(wanted)
  },
)

/** A copy of the directory that the example names, in a repository of its own, where `gantry` is the published library. */
function projectOf({ mark, text }: Fence): TestProject {
  const project = makeProject()
  cpSync(join(root, mark), project.dir, { recursive: true })
  // Above the project: a verification refuses links that lead out of it.
  const packages = project.path('../node_modules')
  mkdirSync(join(packages, 'gantry'), { recursive: true })
  symlinkSync(join(programDirectory, 'cli'), join(packages, 'gantry/cli'))
  writeFileSync(join(packages, 'gantry/package.json'), '{ "type": "module", "exports": "./cli/index.js" }\n')
  symlinkSync(join(root, 'node_modules/zod'), join(packages, 'zod'))
  writeFileSync(project.path('example.mts'), text)
  return project
}

function environmentOf(project: TestProject): Record<string, string> {
  return {
    PATH: `${join(process.execPath, '..')}:${process.env.PATH ?? ''}`,
    HOME: project.home,
    AGENT_ARTIFACT_DIR: project.store,
    GANTRY_GUARD_HOME: join(project.home, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
    NO_COLOR: '1',
  }
}

/** What the comments promise: behind a `console.log`, or on lines of their own below what prints them. */
function promisesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [, behind] = /\bconsole\.log\(.*\) \/\/ (.+)$/.exec(line) ?? []
    const [, alone] = /^\/\/ (.+)$/.exec(line) ?? []
    const promised = behind ?? alone
    return promised === undefined ? [] : [promised]
  })
}

function nameOf({ line }: Fence): string {
  const before = page.text.split('\n').slice(0, line)
  return before.findLast((text) => text.startsWith('### '))?.slice(4) ?? ''
}
