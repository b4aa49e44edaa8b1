import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.text.BreakIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import joptsimple.OptionException;
import joptsimple.OptionParser;
import joptsimple.OptionSet;
import joptsimple.OptionSpec;

import net.sourceforge.argparse4j.ArgumentParsers;
import net.sourceforge.argparse4j.impl.Arguments;
import net.sourceforge.argparse4j.inf.ArgumentParser;
import net.sourceforge.argparse4j.inf.ArgumentParserException;
import net.sourceforge.argparse4j.inf.MutuallyExclusiveGroup;
import net.sourceforge.argparse4j.inf.Subparser;
import net.sourceforge.argparse4j.inf.Subparsers;

/** Says what the Java libraries make of each line of standard input; words are separated by U+001F. */
public final class Probe {
    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer = switch (arguments[0]) {
                case "breaks" -> breaks(line);
                case "joptsimple" -> joptsimple(words(line));
                default -> argparse4j(words(line));
            };
            out.println(answer.replace("\n", "\u001e"));
        }
        out.flush();
    }

    private static String[] words(String line) {
        return line.isEmpty() ? new String[0] : line.split("\u001f", -1);
    }

    private static String breaks(String line) {
        BreakIterator pieces = BreakIterator.getLineInstance();
        pieces.setText(line);
        List<String> ends = new ArrayList<>();
        pieces.first();
        for (int end = pieces.next(); end != BreakIterator.DONE; end = pieces.next()) {
            ends.add(String.valueOf(end));
        }
        return String.join(" ", ends);
    }

    private static String joptsimple(String[] words) throws IOException {
        OptionParser parser = new OptionParser(false);
        List<OptionSpec<?>> specs = new ArrayList<>();
        specs.add(parser.accepts("help", "Print usage information.").forHelp());
        OptionSpec<Void> list = parser.accepts("list", "List.");
        specs.add(list);
        specs.add(parser.accepts("topic", "The topic, a word that may be repeated as often as one likes to.")
            .withRequiredArg().describedAs("topic").ofType(String.class));
        specs.add(parser.accepts("partitions", "How many (that's a number).")
            .withRequiredArg().describedAs("# of partitions").ofType(Integer.class).defaultsTo(3));
        specs.add(parser.accepts("timeout-with-a-name-that-is-long", "").withOptionalArg().ofType(Long.class));
        specs.add(parser.accepts("state", "State\n\tone\n\ttwo\nof the group.")
            .availableIf(list).withOptionalArg().ofType(String.class));
        specs.add(parser.accepts("keys", "Keys.").withRequiredArg().withValuesSeparatedBy(','));
        specs.add(parser.accepts("v", "Verbose."));
        specs.add(parser.accepts("x", "An x.").withRequiredArg().ofType(String.class));
        try {
            OptionSet options = parser.parse(words);
            if (options.has("help")) {
                StringWriter help = new StringWriter();
                parser.printHelpOn(help);
                return help.toString();
            }
            StringBuilder said = new StringBuilder();
            for (OptionSpec<?> spec : specs) {
                if (options.has(spec)) {
                    said.append(spec).append(options.valuesOf(spec)).append(' ');
                }
            }
            return said.append(options.valueOf("topic")).append(options.nonOptionArguments()).toString();
        } catch (OptionException wrong) {
            return wrong.getMessage();
        }
    }

    private static String argparse4j(String[] words) {
        ArgumentParser parser = ArgumentParsers.newArgumentParser("probe").defaultHelp(true)
            .description("A parser that has one of each kind, so that what becomes of each can be seen.");
        parser.addArgument("-v", "--verbose").action(Arguments.storeTrue()).help("Say more.");
        parser.addArgument("--topic").required(true).metavar("TOPIC").help("The topic (there's only one).");
        parser.addArgument("--count").type(Integer.class).setDefault(-1).help("How many.");
        parser.addArgument("--acks").type(Integer.class).choices(0, 1, -1).help("Acks required on each message.");
        parser.addArgument("--props").nargs("+").metavar("NAME=VALUE");
        parser.addArgument("--feature").action(Arguments.append());
        parser.addArgument("-q").action(Arguments.storeTrue()).help(Arguments.SUPPRESS);
        MutuallyExclusiveGroup size = parser.addMutuallyExclusiveGroup("Payload").required(true)
            .description("Either of them.");
        size.addArgument("--record-size").type(Long.class).help("Bytes.");
        size.addArgument("--payload-file");
        Subparsers commands = parser.addSubparsers().dest("command");
        Subparser describe = commands.addParser("describe").help("Describe it.");
        describe.addArgument("--status").action(Arguments.storeTrue());
        describe.addArgument("names").nargs("*");
        Subparser delete = commands.addParser("delete").description("Deletes it for good.");
        delete.addArgument("name").help("What goes.");
        StringWriter err = new StringWriter();
        PrintStream out = System.out;
        try (PrintStream nowhere = new PrintStream(PrintStream.nullOutputStream())) {
            System.setOut(nowhere);
            return new TreeMap<>(parser.parseArgs(words).getAttrs()).toString();
        } catch (ArgumentParserException wrong) {
            if (wrong.getParser() != null && wrong.getClass().getSimpleName().equals("HelpScreenException")) {
                wrong.getParser().printHelp(new PrintWriter(err));
                return err.toString();
            }
            return error(parser, wrong);
        } finally {
            System.setOut(out);
        }
    }

    private static String error(ArgumentParser parser, ArgumentParserException wrong) {
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        PrintStream err = System.err;
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            parser.handleError(wrong);
        } finally {
            System.setErr(err);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
