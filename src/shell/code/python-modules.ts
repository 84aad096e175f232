import { argOf, type Invocation } from '../interpreter.ts'
import { readOptions } from '../options.ts'

/** `python -m`: modules of the library, and some others, that write files they are told. */
export function runModule({ args, state, shell }: Invocation): void {
  const module = args[1]?.value ?? ''
  const rest = args.slice(2)
  const { given, operands, values } = readOptions(rest, ['c', 'create', 'e', 'extract', 'f', 'file', 'o'])
  const written = (() => {
    switch (module) {
      case 'json.tool':
        return operands.slice(1, 2)
      case 'zipfile':
      case 'tarfile':
        return values('c', 'create')
      case 'venv':
      case 'virtualenv':
        return operands
      case 'dotenv':
        return /^(?:set|unset)$/.test(operands[0]?.value ?? '')
          ? values('f', 'file').length > 0
            ? values('f', 'file')
            : [argOf('.env')]
          : []
      case 'zipapp':
        return values('o')
      default:
        return []
    }
  })()
  if (module === 'venv' && given.has('h')) return
  for (const file of written) shell.write(file, `python -m ${module} writes it`, state)
}
