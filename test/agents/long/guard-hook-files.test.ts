import { describeHookFile } from '../support/hook-file.conformance.ts'

describeHookFile('gemini', { driver: 'gemini' }, ['SessionStart', 'BeforeAgent', 'AfterAgent', 'SessionEnd'])
describeHookFile('opencode', { driver: 'opencode' }, ['experimental.chat.system.transform', 'chat.message'])
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
