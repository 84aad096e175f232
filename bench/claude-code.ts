import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findAgent, type InstalledAgent } from '../scripts/agent-cache.ts'
import { claudeCode } from '../src/agents/claude-code/claude-code.ts'
import { claudeCodeSchema } from '../src/agents/claude-code/schema.ts'
import { createClaudeSdkAgent } from '../src/agents/claude-sdk/claude-sdk.ts'
import { claudeSdkSchema } from '../src/agents/claude-sdk/schema.ts'
import { createCliAgent } from '../src/agents/cli/create-cli-agent.ts'
import type { AgentOutcome, SessionRequest } from '../src/agents/contract.ts'
import type { ModelEndpoint } from '../src/models/boundary/contract.ts'
import { openBoundary } from '../src/models/boundary/open-boundary.ts'
import { createScriptResponder } from '../src/models/boundary/script/responder.ts'
import { readBoundaryScript } from '../src/models/boundary/script/schema.ts'
import { compare, type Figure, inTemporary } from './figure.ts'

const gantry = join(import.meta.dirname, '../dist/cli/bin.js')
const trialCount = 10
const turnCount = 5

/** Ten trials of Claude Code with a one-word answer, against the same ten started one after the other by a shell. */
export function claudeTrials(): Promise<Figure> {
  const name = `${trialCount} trials of Claude Code, -j 1`
  return withAgents(name, ['claude-code'], ([claude]) =>
    inTemporary((base) =>
      withModel(base, async (endpoint) => {
        makeProject(base, claude?.program ?? '')
        await runTrials(base, 'warm', 1)
        return compare({
          name,
          atMost: 1.15,
          baseline: 'starting them in a shell loop',
          rounds: 5,
          ours: (round) => runTrials(base, `round-${round}`, trialCount),
          theirs: (round) => shellLoop(base, round, claude?.program ?? '', endpoint),
        })
      }),
    ),
  )
}

/** Later prompts of one session of the SDK, against a process of Claude Code for each. */
export function sdkTurns(): Promise<Figure> {
  const name = `${turnCount} later prompts of a claude-sdk session`
  return withAgents(name, ['claude-code', 'claude-agent-sdk'], ([claude, sdk]) =>
    inTemporary((base) =>
      withModel(base, async (endpoint) => {
        const binary = claude?.program ?? ''
        const request = makeRequest(base, endpoint)
        const driver = createClaudeSdkAgent({
          name: 'sdk',
          config: claudeSdkSchema.parse({ driver: 'claude-sdk', package: sdk?.directory, binary }),
          base,
        })
        const single = createCliAgent(claudeCode, {
          name: 'claude',
          config: claudeCodeSchema.parse({ driver: 'claude-code', binary }),
          base,
        })
        const session = await driver.openSession?.(request)
        if (session === undefined) throw new Error('the driver has no sessions')
        try {
          checked(await session.ask('Say a word.'))
          return await compare({
            name,
            atMost: 0.25,
            baseline: 'one process per prompt',
            rounds: 5,
            ours: () => repeat(async () => checked(await session.ask('Say a word.'))),
            theirs: () =>
              repeat(async () => checked(await single.run({ ...request, prompt: 'Say a word.' }))),
          })
        } finally {
          await session.close()
        }
      }),
    ),
  )
}

/** A missing agent is not measured, and the table says so; in CI it is a failure. */
async function withAgents(
  name: string,
  ids: readonly string[],
  measure: (agents: readonly InstalledAgent[]) => Promise<Figure>,
): Promise<Figure> {
  const found = ids.map(findAgent)
  const missing = ids.filter((_, index) => found[index] === null)
  if (missing.length === 0) return measure(found.filter((agent) => agent !== null))
  const limit = `not measured: ${missing.join(', ')} not installed (scripts/install-agents.ts)`
  return { name, limit, ratio: Number.NaN, ok: process.env.CI !== 'true', detail: {} }
}

async function withModel(
  base: string,
  measure: (endpoint: ModelEndpoint) => Promise<Figure>,
): Promise<Figure> {
  writeFileSync(join(base, 'script.yaml'), 'turns:\n  - text: Done.\n')
  const boundary = await openBoundary()
  const responder = createScriptResponder(readBoundaryScript(join(base, 'script.yaml')))
  try {
    return await measure(boundary.open({ responder }).endpoint)
  } finally {
    await boundary.close()
  }
}

function makeProject(project: string, binary: string): void {
  mkdirSync(join(project, 'template'))
  writeFileSync(join(project, 'template/README.md'), 'Nothing to do.\n')
  const agent = { driver: 'claude-code', binary, model_script: 'script.yaml' }
  writeFileSync(join(project, 'gantry.yaml'), JSON.stringify({ agents: { claude: agent } }))
  writeFileSync(
    join(project, 'word.yaml'),
    `name: word
description: Says a word.
target: { binary: "true" }
template_folder: template
task: { prompt: Say a word. }
evaluation:
  gates:
    - { type: file_exists, path: README.md }
`,
  )
}

function runTrials(project: string, store: string, count: number): Promise<void> {
  const flags = ['--agent', 'claude', '--repeat', String(count), '-j', '1', '--no-cache']
  const report = ['--reporter', `json:${store}.json`]
  return run([process.execPath, gantry, 'test', 'word.yaml', ...flags, ...report], project, {
    ...bareEnvironment(),
    AGENT_ARTIFACT_DIR: join(project, 'stores', store),
  })
}

/** Each start has its own HOME and directory, like a trial. */
const loop = `for n in $(seq "$COUNT"); do
  mkdir -p "$PLACE/$n/home" "$PLACE/$n/tmp" "$PLACE/$n/work" && cd "$PLACE/$n/work" && cp "$TEMPLATE"/* . &&
  echo "Say a word." | HOME="$PLACE/$n/home" TMPDIR="$PLACE/$n/tmp" CLAUDE_CODE_TMPDIR="$PLACE/$n/tmp" \\
    "$CLAUDE" -p --dangerously-skip-permissions --output-format stream-json --verbose > "$PLACE/$n/stream" || exit 1
done`

function shellLoop(base: string, round: number, program: string, endpoint: ModelEndpoint): Promise<void> {
  return run(['sh', '-c', loop], base, {
    ...bareEnvironment(),
    ANTHROPIC_BASE_URL: endpoint.url,
    ANTHROPIC_API_KEY: endpoint.key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    IS_SANDBOX: '1',
    CLAUDE: program,
    COUNT: String(trialCount),
    PLACE: join(base, `loop-${round}`),
    TEMPLATE: join(base, 'template'),
  })
}

/** Asynchronous, because the model runs in this process. */
function run(
  [command, ...args]: readonly [string, ...string[]],
  cwd: string,
  env: Record<string, string>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  child.once('error', reject)
  child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))))
  return promise
}

/** Without the keys, proxies and settings of the user. */
function bareEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: '/nonexistent' }
}

function makeRequest(base: string, endpoint: ModelEndpoint): SessionRequest {
  const [workspace, home, temporary] = ['workspace', 'home', 'tmp'].map((part) => join(base, part))
  for (const place of [workspace, home, temporary]) if (place !== undefined) mkdirSync(place)
  return {
    workspace: workspace ?? base,
    model: 'default',
    env: { PATH: process.env.PATH ?? '', HOME: home ?? base, TMPDIR: temporary ?? base },
    timeoutMs: 60_000,
    endpoint,
    signal: new AbortController().signal,
    emit: () => {},
    transcript: () => {},
  }
}

async function repeat(work: () => Promise<unknown>): Promise<void> {
  for (let turn = 0; turn < turnCount; turn += 1) await work()
}

function checked(outcome: AgentOutcome): void {
  if (outcome.finalText !== 'Done.') throw new Error(`the agent did not answer: ${JSON.stringify(outcome)}`)
}
