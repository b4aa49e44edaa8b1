import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.LoggerFactory;

/**
 * Runs the main classes of Kafka's tools one after the other in one JVM, each as if it had the JVM to itself.
 *
 * <p>A call comes as a frame on standard input: the class, its arguments, what it finds on its standard input and a
 * time limit. The answer is a frame on standard output: the exit code, and what was written to standard output, to
 * standard error and to the log (which has a stream of its own here, so that it can be left out of a comparison).
 *
 * <p>The standard streams are replaced once, before any tool is loaded, by streams that lead to the call that the
 * writing thread belongs to: a tool may keep them in a static field (as Scala's Console does), and a thread that an
 * earlier call left behind cannot write into a later one.
 *
 * <p>Exit.exit neither returns nor throws in a JVM of its own; here it blocks its thread until the shutdown hooks have
 * run and the answer has been taken, and then throws, so that the tool closes its clients unheard. System.exit ends this
 * JVM: the answer is then sent by a shutdown hook, and the exit code is that of the process.
 */
public final class ToolServer {
    private static final int TIMED_OUT = -1;
    private static final int ENDED_THE_JVM = -2;
    private static final long UNWIND_MS = 10_000;

    private static final InheritableThreadLocal<Call> CALL_OF_THREAD = new InheritableThreadLocal<>();
    private static volatile Call latest = new Call();

    private ToolServer() {}

    public static void main(String[] arguments) throws Exception {
        DataInputStream calls = new DataInputStream(System.in);
        DataOutputStream answers = new DataOutputStream(System.out);
        replaceStandardStreams();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> answerAtTheEnd(answers)));
        Exit.setExitProcedure((code, message) -> exit(code));
        Exit.setHaltProcedure((code, message) -> exit(code));
        Exit.setShutdownHookAdder((name, hook) -> current().hooks.add(hook));
        try {
            while (true) serve(calls, answers);
        } catch (EOFException end) {
            Runtime.getRuntime().halt(0);
        }
    }

    private static void replaceStandardStreams() {
        System.setErr(new CapturedStream(call -> call.log));
        LoggerFactory.getLogger(ToolServer.class); // the appender keeps the standard error that it finds
        System.setErr(new CapturedStream(call -> call.err));
        System.setOut(new CapturedStream(call -> call.out));
        System.setIn(new GivenInput());
    }

    private static void serve(DataInputStream calls, DataOutputStream answers) throws Exception {
        String mainClass = new String(readBytes(calls), StandardCharsets.UTF_8);
        String[] arguments = new String[calls.readInt()];
        for (int i = 0; i < arguments.length; i++) arguments[i] = new String(readBytes(calls), StandardCharsets.UTF_8);
        Call call = new Call();
        call.in = new ByteArrayInputStream(readBytes(calls));
        long timeoutMs = calls.readLong();

        latest = call;
        answer(answers, call.run(mainClass, arguments, timeoutMs), call);
        answers.writeBoolean(call.unwind());
        answers.flush();
    }

    private static void answer(DataOutputStream answers, int code, Call call) throws IOException {
        answers.writeInt(code);
        for (ByteArrayOutputStream captured : List.of(call.out, call.err, call.log)) writeBytes(answers, captured);
    }

    private static void answerAtTheEnd(DataOutputStream answers) {
        try {
            answer(answers, ENDED_THE_JVM, latest);
            answers.writeBoolean(false);
            answers.flush();
        } catch (IOException gone) {
            Runtime.getRuntime().halt(1);
        }
    }

    private static byte[] readBytes(DataInputStream source) throws IOException {
        byte[] bytes = new byte[source.readInt()];
        source.readFully(bytes);
        return bytes;
    }

    private static void writeBytes(DataOutputStream target, ByteArrayOutputStream captured) throws IOException {
        byte[] bytes = captured.toByteArray();
        target.writeInt(bytes.length);
        target.write(bytes);
    }

    private static Call current() {
        Call call = CALL_OF_THREAD.get();
        return call == null ? latest : call;
    }

    private static void exit(int code) {
        Call call = current();
        call.code.complete(code);
        call.answered.join();
        throw new Exited();
    }

    private static final class Exited extends Error {}

    private static final class Call {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        final ByteArrayOutputStream log = new ByteArrayOutputStream();
        final List<Runnable> hooks = new ArrayList<>();
        final CompletableFuture<Integer> code = new CompletableFuture<>();
        final CompletableFuture<Void> answered = new CompletableFuture<>();
        final ThreadGroup threads = new ThreadGroup("tool");
        InputStream in = InputStream.nullInputStream();
        Thread main;

        int run(String mainClass, String[] arguments, long timeoutMs) throws Exception {
            main = inCall("main", () -> runMain(mainClass, arguments));
            try {
                int exitCode = code.get(timeoutMs, TimeUnit.MILLISECONDS);
                for (Runnable hook : hooks) inCall("hook", hook).join(timeoutMs);
                return exitCode;
            } catch (TimeoutException late) {
                return TIMED_OUT;
            }
        }

        private Thread inCall(String name, Runnable work) {
            Thread thread = new Thread(threads, () -> {
                CALL_OF_THREAD.set(this);
                work.run();
            }, name);
            thread.start();
            return thread;
        }

        private void runMain(String mainClass, String[] arguments) {
            int exitCode = 0;
            try {
                Class.forName(mainClass).getMethod("main", String[].class).invoke(null, (Object) arguments);
            } catch (InvocationTargetException thrown) {
                exitCode = report(thrown.getCause());
            } catch (ReflectiveOperationException noSuchTool) {
                exitCode = report(noSuchTool);
            }
            if (!code.isDone()) joinOthers();
            code.complete(exitCode);
        }

        private int report(Throwable thrown) {
            if (!(thrown instanceof Exited)) {
                System.err.print("Exception in thread \"main\" ");
                thrown.printStackTrace();
            }
            return 1;
        }

        /** A JVM lives until its last thread that is not a daemon has ended. */
        private void joinOthers() {
            Thread[] found = new Thread[threads.activeCount() + 16];
            int count = threads.enumerate(found);
            for (int i = 0; i < count; i++) {
                if (found[i] == Thread.currentThread() || found[i].isDaemon()) continue;
                try {
                    found[i].join();
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }

        /** Whether the tool has let go of everything, so that this JVM can run another. */
        boolean unwind() throws InterruptedException {
            answered.complete(null);
            if (code.isDone()) main.join(UNWIND_MS);
            return !main.isAlive();
        }
    }

    /** Leads to the streams of the call that a thread belongs to; a tool that closes it closes nothing. */
    private static final class CapturedStream extends PrintStream {
        CapturedStream(Function<Call, OutputStream> capture) {
            super(new OutputStream() {
                @Override
                public void write(int value) throws IOException {
                    capture.apply(current()).write(value);
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    capture.apply(current()).write(bytes, offset, length);
                }
            }, true, StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            flush();
        }
    }

    private static final class GivenInput extends InputStream {
        @Override
        public int read() throws IOException {
            return current().in.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            return current().in.read(bytes, offset, length);
        }

        @Override
        public int available() throws IOException {
            return current().in.available();
        }
    }
}
