import type { Command } from 'commander'
import { boundaryCommand } from './boundary/index.ts'
import type { CliContext } from './context.ts'
import { doctorCommand } from './doctor/index.ts'
import { guardCommand } from './guard/index.ts'
import { initCommand } from './init.ts'
import { planCommand } from './plan/index.ts'
import { pluginCommand } from './plugin/index.ts'
import { runsCommand } from './runs/index.ts'
import { scenarioCommand } from './scenario/index.ts'
import { serveCommand } from './serve.ts'
import { taskCommand } from './task/index.ts'
import { testCommand } from './test.ts'
import { verifyCommand } from './verify.ts'

/** Every command of `gantry`, in the order of the help; the reference in the docs is generated from these. */
export function allCommands(context: CliContext): readonly Command[] {
  return [
    testCommand(context),
    scenarioCommand(context),
    initCommand(context),
    verifyCommand(context),
    taskCommand(context),
    serveCommand(context),
    guardCommand(context),
    planCommand(context),
    pluginCommand(context),
    runsCommand(context),
    boundaryCommand(context),
    doctorCommand(context),
  ]
}
