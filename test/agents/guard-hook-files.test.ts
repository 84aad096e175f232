import { describeHookFile } from './support/hook-file.conformance.ts'

describeHookFile('copilot', { driver: 'copilot' }, [
  'sessionStart',
  'userPromptSubmitted',
  'agentStop',
  'sessionEnd',
])
describeHookFile('codex', { driver: 'codex', trust_hooks: true }, [
  'SessionStart',
  'UserPromptSubmit',
  'Stop',
])
