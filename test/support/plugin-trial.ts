import type { Components, SkillComponent } from '../../src/plugin/analyze/contract.ts'
import type { Execution, PluginTranscript, TranscriptEvent } from '../../src/plugin/execute/contract.ts'
import type { PluginScenario } from '../../src/plugin/generate/contract.ts'
import { sampleExecution, sampleScenario } from './plugin-samples.ts'

/** Parts of a plugin evaluation for tests of cases and judges, changed where a test is about something. */
export function scenarioOf(change: Partial<PluginScenario> = {}): PluginScenario {
  return sampleScenario({ user_prompt: 'Say hello to Bob', origin: 'file', ...change })
}

export function executionOf(change: Partial<Execution> = {}): Execution {
  return sampleExecution({ final_text: 'done', ...change })
}

export function transcriptOf(
  events: readonly TranscriptEvent[] = [said('evt_1', 'user', 'hi')],
): PluginTranscript {
  return {
    metadata: {
      version: 'v3.0',
      plugin_name: 'demo',
      scenario_id: 'greet-direct-1',
      timestamp: '2026-01-01T00:00:00.000Z',
      model: 'm',
    },
    events,
    errors: [],
  }
}

export function said(id: string, role: 'user' | 'assistant', content: string): TranscriptEvent {
  return { id, type: role, edit: { message: { role, content } } }
}

/** An answer of the model that calls a tool. */
export function called(id: string, name: string, input: unknown, content = ''): TranscriptEvent {
  return {
    id,
    type: 'assistant',
    edit: { message: { role: 'assistant', content, tool_calls: [{ id: `call_${id}`, name, input }] } },
  }
}

export function resulted(id: string, result: string, isError = false): TranscriptEvent {
  return { id, type: 'tool_result', tool_use_id: `call_${id}`, result, ...(isError && { is_error: true }) }
}

export const noComponents: Components = { skills: [], agents: [], commands: [], hooks: [], mcp_servers: [] }

export function skillOf(name: string, plugin = 'demo'): SkillComponent {
  return {
    name,
    cli_name: `${plugin}:${name}`,
    plugin,
    path: `skills/${name}/SKILL.md`,
    description: '',
    triggers: [],
    intents: [],
    allowed_tools: [],
    disable_model_invocation: false,
    user_invocable: true,
  }
}
