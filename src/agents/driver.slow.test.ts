import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { commandAgentSchema } from './command/schema.ts'
import { type Act, type DriverSubject, describeDriver } from './driver.conformance.ts'
import { agentSchema, createAgent } from './index.ts'

// These tests mostly wait for processes.
vi.setConfig({ maxConcurrency: 16 })

const fixtureAgent = fileURLToPath(new URL('./command/fixtures/agent.mjs', import.meta.url))

describeDriver(
  'command, text, prompt in argv',
  command({ output: 'text' }, ['argv', '{prompt}'], ['tool_events', 'cost', 'turns', 'failure']),
)
describeDriver('command, events, prompt on stdin', command({ output: 'events' }, ['stdin'], []))
describeDriver(
  'command, claude-stream-json, prompt in a file',
  command({ output: 'claude-stream-json' }, ['file', '{prompt_file}'], []),
)
describeDriver(
  'command, codex-json, prompt in argv',
  command({ output: 'codex-json' }, ['argv', '{prompt}'], ['cost']),
)

describeDriver('module', {
  lacks: [],
  make(acts, dir) {
    const fixture = new URL('./module/fixtures/agent.mjs', import.meta.url).href
    const source = `import { agentOf } from '${fixture}'\nexport default agentOf(${JSON.stringify(acts)})\n`
    writeFileSync(join(dir, 'agent.mjs'), source)
    return moduleAgent('./agent.mjs', dir)
  },
  makeMissing: (dir) => moduleAgent('./no-such-agent.mjs', dir),
})

describeDriver('scripted', {
  lacks: [],
  make(acts, dir, prompt) {
    // JSON is YAML. The selected part of the script requires exactly this prompt, which proves that the agent has it.
    const part = { when: { prompt }, turns: acts.map((act) => stepOf(act, prompt)) }
    writeFileSync(join(dir, 'script.yaml'), JSON.stringify({ name: 'fixture', scripts: [part] }))
    return scripted('script.yaml', dir)
  },
  makeMissing: (dir) => scripted('no-such-script.yaml', dir),
})

function moduleAgent(module: string, base: string) {
  return createAgent('fixture', agentSchema.parse({ driver: 'module', module }), { base })
}

function scripted(script: string, base: string) {
  return createAgent('fixture', { driver: 'scripted', script, models: [] }, { base })
}

function stepOf(act: Act, prompt: string): object {
  switch (act.act) {
    case 'say':
      return { say: act.text }
    case 'run':
      return { run: act.command }
    case 'write':
      return { write: { path: act.path, content: act.content } }
    case 'edit':
      return { edit: { path: act.path, old: act.old, new: act.new } }
    case 'keep_prompt':
      return { write: { path: act.path, content: prompt } }
    case 'spend':
      return { usage: { input_tokens: 1_000, output_tokens: 10, cost_usd: act.costUsd } }
    case 'hang':
      return { hang: true, ignore_sigterm: act.ignoreSigterm }
    case 'crash':
      return { crash: { signal: 'SIGSEGV' } }
    case 'exit':
      return { exit: act.code }
    case 'rate_limit':
      return { infra: { reason: 'rate_limit', message: 'too many requests' } }
    case 'daemon':
      return { spawn_daemon: act.command }
  }
}

function command(
  settings: { readonly output: string },
  prompt: readonly string[],
  lacks: DriverSubject['lacks'],
): DriverSubject {
  const create = (words: readonly string[], base: string) =>
    createAgent('fixture', commandAgentSchema.parse({ driver: 'command', command: words, ...settings }), {
      base,
    })
  return {
    lacks,
    make(acts, dir) {
      writeFileSync(join(dir, 'plan.json'), JSON.stringify(acts))
      return create([process.execPath, fixtureAgent, settings.output, './plan.json', ...prompt], dir)
    },
    makeMissing: (dir) => create(['./no-such-agent', ...prompt], dir),
  }
}
