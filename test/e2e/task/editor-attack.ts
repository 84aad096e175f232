import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { TestProject } from '../support/project.ts'
import { afterwards } from './lab.ts'

/** A program of an Editor that looks for secrets, leaves a mark in the home of the user and reaches for the network. */
export async function prepareAttack(project: TestProject) {
  const reached: string[] = []
  const server = createServer(() => reached.push('the loopback')).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  afterwards(() => server.close())
  const { port } = server.address() as { port: number }
  const { home } = project
  mkdirSync(join(home, '.ssh'))
  writeFileSync(join(home, '.ssh/id_rsa'), 'the private key')
  writeFileSync(join(home, '.bashrc'), '# mine\n')
  return {
    program: `
open(HERE, '>', 'looked.txt') or die "the repository cannot be written: $!";
for my $home ('${home}', $ENV{HOME}) {
  print HERE "STOLEN ", <KEY> if open(KEY, '<', "$home/.ssh/id_rsa");
  print RC "evil" if open(RC, '>>', "$home/.bashrc");
}
use IO::Socket::INET;
print HERE "REACHED" if IO::Socket::INET->new('127.0.0.1:${port}') or IO::Socket::INET->new('192.0.2.1:80');
print HERE map { "$_=$ENV{$_}\\n" } keys %ENV;
`,
    /** What the program has written; the second is what it has left in the home. */
    result: () => ({
      looked: project.read('looked.txt'),
      bashrc: readFileSync(join(home, '.bashrc'), 'utf8'),
      reached,
    }),
  }
}

export const nothingReached = { bashrc: '# mine\n', reached: [] }
