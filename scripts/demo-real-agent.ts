// Part of the demo: a real agent with a file in place of its model. It needs an agent, but no key and no network.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { findAgent } from './agent-cache.ts'

const root = join(import.meta.dirname, '..')
const example = join(root, 'examples/real-agent')

/** Names from examples/real-agent/gantry.yaml, the quickest first, and where the tests install that agent. */
const candidates = [
  { agent: 'claude', title: 'Claude Code', cached: 'claude-code' },
  { agent: 'codex', title: 'Codex', cached: 'codex' },
  { agent: 'copilot', title: 'Copilot CLI', cached: 'copilot' },
  { agent: 'gemini', title: 'Gemini CLI', cached: 'gemini' },
  { agent: 'opencode', title: 'opencode', cached: 'opencode' },
] as const

/** Returns whether it went as expected. Without an installed agent it returns true. */
export function demoRealAgent(store: string): boolean {
  const env = environment(store)
  const found = findInstalled(env)
  if (found === null) {
    console.log(
      'Skipped: the part with a real agent, because none is installed. To add one: npm install --global @anthropic-ai/claude-code\n',
    )
    return true
  }
  const { agent, title, detail } = found
  // Only Claude Code is there twice: the second time with a model that does nothing.
  const agents = agent === 'claude' ? 'claude,liar' : agent
  console.log(`
A real agent: ${title} ${detail}

It repairs the script of examples/real-agent. Real are the program, its tools, the commands it runs, the files it changes and the gates.
Only its model is scripted: a server on 127.0.0.1 answers from model.yaml${agent === 'claude' ? ', and for "liar" from liar.yaml, which just says "done"' : ''}.
No key is in its environment, and nothing leaves the machine. What passes between agent and model is recorded.

$ gantry test --agent ${agents} --replay record
`)
  const recorded = play(agents, 'record', store, env)
  console.log(`
The same once more, and now the recording answers: a request that differs from the recorded one would end the trial with a diff.

$ gantry test --agent ${agent} --replay strict
`)
  const replayed = play(agent, 'strict', store, env)
  const expected = [`${agent} pass`, ...(agent === 'claude' ? ['liar fail'] : []), `${agent} pass`]
  const asExpected = JSON.stringify([...recorded, ...replayed]) === JSON.stringify(expected)
  console.log(
    asExpected
      ? `\nAs expected: ${title} really repaired the script, twice, the second time without any model${agent === 'claude' ? '; "liar" was not believed' : ''}.\n`
      : `\nSomething is wrong: expected ${expected.join(', ')}; found ${[...recorded, ...replayed].join(', ')}.\n`,
  )
  return asExpected
}

/** The user's PATH, then the tests' agents; without the user's keys. */
function environment(store: string): Record<string, string> {
  const cached = candidates.flatMap(({ cached: id }) => findAgent(id)?.program ?? []).map(dirname)
  return {
    ...Object.fromEntries(
      ['HOME', 'LANG', 'TERM', 'NO_COLOR', 'FORCE_COLOR', 'COLORTERM'].flatMap((name) => {
        const value = process.env[name]
        return value === undefined ? [] : [[name, value]]
      }),
    ),
    PATH: [process.env.PATH ?? '', ...cached].join(delimiter),
    AGENT_ARTIFACT_DIR: store,
  }
}

/** Uses `gantry doctor`, to skip an agent in an unsupported version. */
function findInstalled(
  env: Record<string, string>,
): ((typeof candidates)[number] & { readonly detail: string }) | null {
  const { stdout } = spawnSync(process.execPath, [join(root, 'src/bin.ts'), 'doctor', '--json'], {
    cwd: example,
    env,
    encoding: 'utf8',
  })
  const { findings }: { findings: { area: string; name: string; status: string; detail: string }[] } =
    JSON.parse(stdout)
  for (const candidate of candidates) {
    const finding = findings.find(
      ({ area, name }) => area === 'agents' && name.split(' ')[0] === candidate.agent,
    )
    if (finding !== undefined && finding.status !== 'missing') return { ...candidate, detail: finding.detail }
  }
  return null
}

/** `agent verdict` of every trial, in the order of the plan. */
function play(
  agents: string,
  replay: 'record' | 'strict',
  store: string,
  env: Record<string, string>,
): string[] {
  const results = join(store, `real-agent-${replay}.json`)
  const words = ['test', '--agent', agents, '--replay', replay, '--cassettes', join(store, 'cassettes')]
  const reporters = ['--reporter', 'console', '--reporter', `json:${results}`]
  spawnSync(process.execPath, [join(root, 'src/bin.ts'), ...words, ...reporters], {
    cwd: example,
    stdio: 'inherit',
    env,
  })
  const { trials }: { trials: { id: string; agent: string; verdict: string }[] } = JSON.parse(
    readFileSync(results, 'utf8'),
  )
  return trials
    .toSorted((a, b) => a.id.localeCompare(b.id))
    .map(({ agent, verdict }) => `${agent} ${verdict}`)
}
