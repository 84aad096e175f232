import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type HookedAgent, hookCodecs } from '../../../src/agents/hook-codecs.ts'
import type { AgentRun, GuardedProject, ProjectSetup, ProofStage } from '../../../src/guard/prove/contract.ts'
import { textOfCall } from '../../../src/guard/prove/observations.ts'
import { installHooks } from '../../../src/guard-install/install-hooks.ts'
import { uninstallHooks } from '../../../src/guard-install/uninstall-hooks.ts'
import { personAndSeal } from '../../../src/library/guard-hooks.ts'
import { openGuardStage } from './guard-stage.ts'

const repository = join(import.meta.dirname, '../../..')

/** A real agent with a scripted model in projects that have the guard in them, and what a person does around it. */
export interface GuardedStage {
  readonly proof: ProofStage
  /** The published hook program. */
  readonly hookBin: string
  /** A git repository with these files committed, and then the guard. */
  project(setup?: ProjectSetup): Promise<GuardedProject>
  /** Installs the guard also for these agents. */
  install(project: GuardedProject, agents: readonly HookedAgent[]): Promise<void>
  uninstall(project: GuardedProject, agents: readonly HookedAgent[]): Promise<void>
  /** Gantry's own program, as a person starts it in the project. */
  gantry(project: GuardedProject, ...args: readonly string[]): GantryRun
  close(): Promise<void>
}

export interface GantryRun {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** One boundary, one built hook program and one scratch directory for a file of tests. */
export async function openGuardedStage(agent: HookedAgent): Promise<GuardedStage> {
  const path = [join(repository, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter)
  const stage = await openGuardStage(agent, agent, { ...process.env, PATH: path })
  const { program } = stage
  return {
    proof: stage,
    hookBin: program.hookBin,
    project: async (setup = {}) => {
      const project = await stage.project(setup)
      // Codex runs commands in a login shell, which sets the PATH anew.
      writeFileSync(join(project.home, '.profile'), `export PATH='${path}'\n`)
      commitAll(project)
      return project
    },
    install: async (project, agents) =>
      void (await installHooks({ ...targetOf(project, agents), program, dryRun: false })),
    uninstall: async (project, agents) =>
      void (await uninstallHooks({ ...targetOf(project, agents), dryRun: false })),
    gantry: ({ root, env }, ...args) =>
      spawnSync(join(repository, 'bin/gantry'), args, { cwd: root, env, encoding: 'utf8' }),
    close: stage.close,
  }
}

/** Everything the model got in the last call of a run. */
export function lastSentText({ calls }: AgentRun): string {
  const last = calls.at(-1)
  return last === undefined ? '' : textOfCall(last)
}

/** A tool's result as the model got it. */
export function sentResults({ calls }: AgentRun): readonly string[] {
  return calls.at(-1)?.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)) ?? []
}

export function isThere({ root }: GuardedProject, path: string): boolean {
  return existsSync(join(root, path))
}

function targetOf({ root, home, env }: GuardedProject, agents: readonly HookedAgent[]) {
  const place = { root, home, env }
  return {
    agents,
    scope: 'project' as const,
    place,
    eventsOf: (agent: HookedAgent) => hookCodecs[agent].events,
    ...personAndSeal(place),
    // An agent may run the tests.
    checkPerson: async () => {},
  }
}

function commitAll({ root, env }: GuardedProject): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, env })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  git(...author, 'commit', '-q', '--allow-empty', '-m', 'Start')
}
