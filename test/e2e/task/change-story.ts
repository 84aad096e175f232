import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeRepository, type TaskResult, taskRun } from './lab.ts'
import { openModel } from './model.ts'

/** A change of a small repository that an Editor makes in its first turn. */
interface ChangeCase {
  readonly name: string
  readonly base: string
  /** By file: a text in it, and what takes its place. */
  readonly change?: Readonly<Record<string, readonly [string, string]>>
  readonly write?: Readonly<Record<string, string>>
  readonly run?: readonly string[]
}

interface ChangeBase {
  readonly steps: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

function corpus<T>(name: string): T {
  return parse(readFileSync(join(import.meta.dirname, '../../corpus/task', `${name}.yaml`), 'utf8'), {
    merge: true,
  }) as T
}

/** Plays the cases of a list, each as a task of its own with the builtin Editor. */
export function playChanges(
  list: 'cheats' | 'honest',
  engine: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly image?: string
    /** One case in three: the long suite plays the others. */
    readonly part?: 'some' | 'others'
  } = {},
): void {
  const bases = corpus<Readonly<Record<string, ChangeBase>>>('bases')
  const cases = corpus<readonly ChangeCase[]>(list)
  test(`there are enough ${list} in the corpus`, () => {
    expect(cases.length).toBeGreaterThanOrEqual(list === 'cheats' ? 60 : 40)
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })
  const { part } = options
  const wanted = cases.filter((_, index) => part === undefined || (index % 3 === 0) === (part === 'some'))
  test.concurrent.each(wanted)('$name ($base)', async (each) => {
    const run = await play(each, bases[each.base] ?? { steps: [], files: {} }, engine, options)
    const { state, reason, weakened } = run.end
    if (list === 'honest') expect(state, reason).toBe('SUCCESS')
    else {
      expect(state, `${reason}\n${run.end.summary}`).not.toBe('SUCCESS')
      expect(run.code).not.toBe(0)
      if (state === 'WEAKENED')
        expect(weakened?.every(({ what, where }) => what !== '' && where !== '')).toBe(true)
    }
  })
}

function play(
  { change = {}, write = {}, run = [] }: ChangeCase,
  { steps, files }: ChangeBase,
  engine: readonly string[],
  { env = {}, image }: { readonly env?: Readonly<Record<string, string>>; readonly image?: string },
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
  const project = makeRepository({
    bare: true,
    files,
    steps,
    verification: { workspace: 'overlay', ...(image !== undefined && { container_image: image }) },
  })
  return openModel({
    edits: (number) => (number === 1 ? edits : []),
    diagnosis: 'not JSON: ends the task',
  }).then((model) => taskRun(project, model, engine, { env }))
}
