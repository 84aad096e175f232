import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { findProgram } from '../../../src/io/find-program.ts'
import { needs } from '../../support/needs.ts'
import { commitAll } from '../plan/lab.ts'
import type { TestProject } from '../support/project.ts'
import { makeRepository, type TaskResult, taskRun } from './lab.ts'
import { openModel } from './model.ts'

/** A change of a small repository that an Editor makes in its first turn. */
interface ChangeCase {
  readonly name: string
  readonly base: string
  /** Default: to fix the sum. */
  readonly task?: string
  /** By file: a text in it, and what takes its place. */
  readonly change?: Readonly<Record<string, readonly [string, string]>>
  readonly write?: Readonly<Record<string, string>>
  readonly run?: readonly string[]
}

interface ChangeBase {
  /** Programs that the image for tests lacks, and the machine may. */
  readonly needs?: readonly string[]
  readonly steps: readonly string[]
  readonly files: Readonly<Record<string, string>>
  /** Symlinks by path. */
  readonly links?: Readonly<Record<string, string>>
}

function corpus<T>(name: string): T {
  return parse(readFileSync(join(import.meta.dirname, '../../corpus/task', `${name}.yaml`), 'utf8'), {
    merge: true,
  }) as T
}

interface StoryOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly image?: string
  /** One case in three: the long suite plays the others. */
  readonly part?: 'some' | 'others'
  /** The Editor, as in gantry.yaml. Default: the builtin one. */
  readonly agent?: Readonly<Record<string, unknown>>
  /** Names of cases. Default: all. */
  readonly only?: readonly string[]
}

/** Plays the cases of a list, each as a task of its own. */
export function playChanges(
  list: 'cheats' | 'honest',
  engine: readonly string[],
  options: StoryOptions = {},
): void {
  const bases = corpus<Readonly<Record<string, ChangeBase>>>('bases')
  const cases = corpus<readonly ChangeCase[]>(list)
  test(`there are enough ${list} in the corpus`, () => {
    expect(cases.length).toBeGreaterThanOrEqual(list === 'cheats' ? 60 : 40)
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })
  const { part, only } = options
  const named = cases.filter(({ name }) => only?.includes(name) ?? true)
  if (only !== undefined && named.length !== only.length) throw new Error('a case is not in the corpus')
  const wanted = named.filter((_, index) => part === undefined || (index % 6 === 0) === (part === 'some'))
  const shared = sharedRepositories()
  const isMissing = (program: string): boolean =>
    engine.includes('docker') || findProgram(program, process.env.PATH ?? '') === null
  // Neither the machine of CI nor the image has every toolchain. Where one is, its cases are played, on bubblewrap.
  const tests = Object.fromEntries(
    [...new Set(wanted.map(({ base }) => base))].map((base) => {
      const missing = bases[base]?.needs?.filter(isMissing) ?? []
      const part = `${missing.join(' and ')} for the base "${base}" of a task`
      return [base, needs(part, missing.length === 0, { mayLack: true })] as const
    }),
  )
  for (const each of wanted) {
    const name = `${each.name} (${each.base})`
    tests[each.base]?.concurrent(name, async () => {
      const run = await play(each, bases[each.base] ?? { steps: [], files: {} }, engine, options, shared)
      const { state, reason, weakened } = run.end
      if (list === 'honest') expect(state, reason).toBe('SUCCESS')
      else {
        expect(state, `${reason}\n${run.end.summary}`).not.toBe('SUCCESS')
        expect(run.code).not.toBe(0)
        // The cheat was played: the Editor itself did not fail.
        expect(reason).not.toMatch(/^(?:Editor|Gantry):/)
        if (state === 'WEAKENED')
          expect(weakened?.every(({ what, where }) => what !== '' && where !== '')).toBe(true)
      }
    })
  }
}

function play(
  { base, task: text, change = {}, write = {}, run = [] }: ChangeCase,
  { steps, files, links = {} }: ChangeBase,
  engine: readonly string[],
  { env = {}, image, agent }: StoryOptions,
  shared: ReturnType<typeof sharedRepositories>,
): Promise<TaskResult> {
  const edits = [
    ...Object.entries(change).map(([path, [from, to]]) => {
      const before = files[path] ?? ''
      if (!before.includes(from)) throw new Error(`${path} does not contain ${from}`)
      return { write: { path, content: before.replace(from, () => to) } }
    }),
    ...Object.entries(write).map(([path, content]) => ({ write: { path, content } })),
    ...run.map((command) => ({ run: command })),
  ]
  const turns = [...(edits.length === 0 ? [] : [{ calls: edits }]), { text: 'It is done.' }]
  const later = { when: { prompt: 'unchanged|failed' }, turns: [{ text: 'It is done.' }] }
  const configured = agent !== undefined && {
    'gantry.yaml': { agents: { real: { ...agent, model_script: 'editor.yaml' } } },
    'editor.yaml': { turns, rules: [later] },
  }
  const make = (): TestProject => {
    const project = makeRepository({
      bare: true,
      git: false,
      files: { ...files, ...configured },
      steps,
      verification: { workspace: 'overlay', ...(image !== undefined && { container_image: image }) },
    })
    for (const [path, target] of Object.entries(links)) {
      mkdirSync(dirname(project.path(path)), { recursive: true })
      symlinkSync(target, project.path(path))
    }
    commitAll(project)
    return project
  }
  const named = agent === undefined ? [] : ['--agent', 'real']
  const argv = [...engine, ...named, ...(text === undefined ? [] : [text])]
  const task = async (project: TestProject): Promise<TaskResult> => {
    const model = await openModel({
      edits: (number) => (number === 1 ? edits : []),
      diagnosis: 'not JSON: ends the task',
    })
    return taskRun(project, model, argv, { env }, [])
  }
  // The script of a real agent is a file of the repository.
  return agent === undefined ? shared(base, make, task) : task(make())
}

/**
 * One repository per base: tasks do not change it, so the steps on its untouched tree run once. Every other case finds their result, and
 * has a store of its own.
 */
function sharedRepositories() {
  const firsts = new Map<string, Promise<TestProject>>()
  let stores = 0
  return async (
    base: string,
    make: () => TestProject,
    task: (project: TestProject) => Promise<TaskResult>,
  ): Promise<TaskResult> => {
    const begun = firsts.get(base)
    if (begun === undefined) {
      const project = make()
      const ran = task(project)
      const ended = () => project
      firsts.set(base, ran.then(ended, ended))
      return ran
    }
    const first = await begun
    stores += 1
    const project = { ...first, store: `${first.store}-${stores}` }
    const known = 'cache/baseline'
    if (existsSync(join(first.store, known)))
      cpSync(join(first.store, known), join(project.store, known), { recursive: true })
    return task(project)
  }
}
