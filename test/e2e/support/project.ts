import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'

/** A directory with files and its own store, both removed on dispose. */
export interface TestProject {
  /** Absolute path of the project. */
  readonly dir: string
  /** AGENT_ARTIFACT_DIR of everything run in it; not there until something writes. */
  readonly store: string
  /** HOME of everything run in it. */
  readonly home: string
  path(relative: string): string
  read(relative: string): string
  /** Text is written unchanged, anything else as YAML. A text that begins with `#!` becomes executable. */
  write(files: Files): void
  [Symbol.dispose](): void
}

export type Files = Readonly<Record<string, unknown>>

export function makeProject(files: Files = {}): TestProject {
  const root = mkdtempSync(join(tmpdir(), 'gantry-e2e-'))
  const dir = join(root, 'project')
  const home = join(root, 'home')
  for (const place of [dir, home]) mkdirSync(place)
  const path = (relative: string): string => join(dir, relative)
  const project: TestProject = {
    dir,
    store: join(root, 'store'),
    home,
    path,
    read: (relative) => readFileSync(path(relative), 'utf8'),
    write: (more) => {
      for (const [name, content] of Object.entries(more)) put(path(name), content)
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
  project.write(files)
  return project
}

function put(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  const text = typeof content === 'string' ? content : stringify(content, { lineWidth: 0 })
  writeFileSync(path, text)
  if (text.startsWith('#!')) chmodSync(path, 0o755)
}

export interface SmallProject {
  /** Keys of `scenarios/case.yaml` that differ from the small scenario. */
  readonly scenario?: Record<string, unknown>
  /** Gates of the scenario; shorter than `scenario.evaluation`. */
  readonly gates?: readonly Record<string, unknown>[]
  /** Turns of the scripted agent `worker`. */
  readonly turns?: readonly Record<string, unknown>[]
  /** Further keys of gantry.yaml. */
  readonly config?: Record<string, unknown>
  readonly files?: Files
}

/** One scenario, one scripted agent that fulfils it, one template: the smallest thing `gantry test` passes. */
export function smallProject({ scenario, gates, turns, config, files }: SmallProject = {}): TestProject {
  return makeProject({
    'gantry.yaml': {
      agents: { worker: { driver: 'scripted', script: 'agents/worker.yaml' } },
      ...config,
    },
    'agents/worker.yaml': agentScript(turns ?? [writes('done.txt')]),
    'scenarios/case.yaml': smallScenario({
      ...(gates !== undefined && { evaluation: { gates } }),
      ...scenario,
    }),
    'fixtures/template/AGENTS.md': 'Write done.txt.\n',
    ...files,
  })
}

export function smallScenario(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'case',
    description: 'The agent writes a file.',
    target: { binary: 'sh' },
    template_folder: 'template',
    task: { prompt: 'Write done.txt.' },
    evaluation: { gates: [{ type: 'file_exists', path: 'done.txt' }] },
    ...changes,
  }
}

export function agentScript(turns: readonly Record<string, unknown>[]): Record<string, unknown> {
  return { name: 'worker', version: '1', turns }
}

export function writes(path: string, content = 'done\n'): Record<string, unknown> {
  return { write: { path, content } }
}
