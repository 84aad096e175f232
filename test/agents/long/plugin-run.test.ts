import { describeIsolatedRun, describePluginRun } from '../support/plugin-run.conformance.ts'

describePluginRun('claude-code-old')
describeIsolatedRun()
