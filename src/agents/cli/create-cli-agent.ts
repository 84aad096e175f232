import type { AgentDriver } from '../contract.ts'
import type { CliInstance } from './cli-instance.ts'
import type { CliAgent, CliConfig } from './contract.ts'
import { openCliSession } from './open-session.ts'
import { probeCli } from './probe.ts'
import { runCli } from './run.ts'

/** A driver for an agent that is a command-line program with a structured output. */
export function createCliAgent<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: CliInstance<Config>,
): AgentDriver {
  const { driver, credentials, reportsCost, live } = definition
  return {
    name: driver,
    modelAccess: { credentials, reportsCost },
    probe: (context) => probeCli(definition, instance, context),
    run: (request) => runCli(definition, instance, request),
    ...(live && { openSession: (request) => openCliSession(definition, live, instance, request) }),
  }
}
