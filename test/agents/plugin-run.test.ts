import { describePluginRun } from './support/plugin-run.conformance.ts'

describePluginRun('claude-code')
