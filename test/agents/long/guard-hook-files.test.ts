import { describeHookFile } from '../support/hook-file.conformance.ts'

describeHookFile('gemini', { driver: 'gemini' }, ['SessionStart', 'BeforeAgent', 'AfterAgent', 'SessionEnd'])
describeHookFile('opencode', { driver: 'opencode' }, ['experimental.chat.system.transform', 'chat.message'])
