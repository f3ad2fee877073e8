// The ESP32 of an AI-deck, as far as SPI 1 of GAP8 sees it, for gvsoc (run_gvsoc.py --cpx): frames of CPX and the two lines of the
// handshake. Chip select ends a transfer; then the next one is set up where there is something to send, or GAP8 has asked.
//
// What is sent to the Crazyflie's processor goes to standard output, as its console or as bytes; what is sent to a PC goes to the
// file "stream" as it would by Wi-Fi, length and all, where a client is connected. Packets of function 14 are for tests: those to
// the PC come back; those to the ESP32 are commands (see command()). Whatever is not as it should be is a line that begins with
// "cpx peer: fault".
#include <stdint.h>
#include <stdio.h>

#include <deque>
#include <string>
#include <vector>

#include <vp/vp.hpp>
#include <vp/itf/qspim.hpp>
#include <vp/itf/wire.hpp>

namespace {

typedef std::vector<uint8_t> Frame;

enum { STM32 = 1, ESP32 = 2, HOST = 3, GAP8 = 4 };
enum { CONSOLE = 2, WIFI_CONTROL = 4, APP = 5, TEST = 14 };
enum { MAXIMUM_LENGTH = 1022 };

class Peer : public vp::component {
public:
    explicit Peer(js::config *config) : vp::component(config) {}
    int build() override;
    void start() override;

private:
    static void on_clock(void *self, int sck, int data_0, int data_1, int data_2, int data_3, int mask);
    static void on_select(void *self, bool is_high);
    static void on_their_line(void *self, int level);
    static void on_own_line(void *, int) {}
    static void on_time(void *self, vp::clock_event *);

    void begin();
    void end();
    void take_bit(int bit);
    void put_bit();
    void prepare_after(int64_t microseconds);
    void take_frame();
    void pass_on(const uint8_t *frame, unsigned length);
    void log_bytes(const uint8_t *data, unsigned count);
    void command(const uint8_t *data, unsigned count);
    void queue(int source, int function, const Frame &data, unsigned version = 0);
    void fault(const std::string &what);

    vp::qspim_slave data_port;
    vp::wire_slave<bool> select_port;
    vp::wire_slave<int> their_port, own_port;
    vp::clock_event *timer;

    bool is_selected = false, is_prepared = false, their_level = false, has_client = false, is_asked = false, is_waiting = false;
    int64_t quiet_microseconds = 0, setup_microseconds = 20;
    unsigned bits = 0;
    Frame incoming, outgoing;
    std::deque<Frame> frames;
    unsigned transfers = 0, packets = 0, faults = 0;
    FILE *stream = nullptr;
};

void Peer::fault(const std::string &what)
{
    faults++;
    printf("cpx peer: fault: %s\n", what.c_str());
}

// ---- setting a transfer up ----------------------------------------------------------------------------------------

// One at a time; while one is set up already, what comes meanwhile is for the next.
void Peer::prepare_after(int64_t microseconds)
{
    if (is_waiting || is_prepared || is_selected || (frames.empty() && !is_asked))
        return;
    is_waiting = true;
    event_enqueue(timer, microseconds + quiet_microseconds + 1);
    quiet_microseconds = 0;
}

void Peer::on_time(void *self, vp::clock_event *)
{
    Peer *peer = static_cast<Peer *>(self);
    peer->is_waiting = peer->is_asked = false;
    peer->outgoing.assign(4, 0);
    if (!peer->frames.empty()) {
        peer->outgoing = peer->frames.front();
        peer->frames.pop_front();
    }
    peer->is_prepared = true;
    peer->own_port.sync(1);
}

void Peer::on_their_line(void *self, int level)
{
    Peer *peer = static_cast<Peer *>(self);
    if (level && !peer->their_level) {
        peer->is_asked = true;
        peer->prepare_after(peer->setup_microseconds);
    }
    peer->their_level = level != 0;
}

// ---- a transfer ---------------------------------------------------------------------------------------------------

void Peer::begin()
{
    if (!is_prepared)
        fault("a transfer that was not set up");
    incoming.clear();
    bits = 0;
    put_bit();
}

void Peer::put_bit()
{
    unsigned byte = bits / 8, value = byte < outgoing.size() ? outgoing[byte] >> (7 - bits % 8) & 1 : 0;
    data_port.sync(2, 0, value, 0, 0, 2);
}

void Peer::take_bit(int bit)
{
    if (bits % 8 == 0)
        incoming.push_back(0);
    incoming.back() = incoming.back() << 1 | bit;
    bits++;
    if (bits == 5 * 8 && their_level)
        fault("GPIO 3 is high in the second part");
    put_bit();
}

// Mode 0: both sides look at the rising edge. The model of the master looks before it, so the next bit is there at once.
void Peer::on_clock(void *self, int sck, int data_0, int, int, int, int)
{
    Peer *peer = static_cast<Peer *>(self);
    if (sck == 1 && peer->is_selected)
        peer->take_bit(data_0);
}

void Peer::on_select(void *self, bool is_high)
{
    Peer *peer = static_cast<Peer *>(self);
    bool is_selected = !is_high;
    if (is_selected == peer->is_selected)
        return;
    peer->is_selected = is_selected;
    if (is_selected)
        peer->begin();
    else
        peer->end();
}

void Peer::end()
{
    transfers++;
    is_prepared = false;
    own_port.sync(0);
    if (bits % 32 != 0 || bits < 64)
        fault("a transfer of " + std::to_string(bits) + " bits");
    unsigned length = outgoing[0] | outgoing[1] << 8;
    if (length > 0 && length <= MAXIMUM_LENGTH && incoming.size() < length + 2)
        fault("a frame of " + std::to_string(length) + " bytes was cut off");
    take_frame();
    prepare_after(setup_microseconds);
}

// ---- packets ------------------------------------------------------------------------------------------------------

void Peer::take_frame()
{
    unsigned length = incoming.size() < 4 ? 0 : incoming[0] | incoming[1] << 8;
    if (length == 0)
        return;
    if (length < 2 || length > MAXIMUM_LENGTH || length + 2 > incoming.size())
        fault("a length of " + std::to_string(length) + " in a transfer of " + std::to_string(incoming.size()));
    else if (incoming[3] >> 6 != 0 || (incoming[2] >> 3 & 7) != GAP8)
        fault("version or source");
    else
        pass_on(incoming.data(), length);
}

void Peer::log_bytes(const uint8_t *data, unsigned count)
{
    printf("to the Crazyflie:");
    for (unsigned i = 0; i < count; i++)
        printf(" %02x", data[i]);
    printf("\n");
}

void Peer::pass_on(const uint8_t *frame, unsigned length)
{
    const uint8_t *data = frame + 4;
    unsigned count = length - 2, destination = frame[2] & 7, function = frame[3] & 63;
    packets++;
    if (destination == STM32 && count > 98)
        fault("more than the UART takes");
    else if (destination == STM32 && function == CONSOLE)
        fwrite(data, 1, count, stdout);
    else if (destination == STM32)
        log_bytes(data, count);
    else if (destination == HOST && function == TEST)
        queue(HOST, TEST, Frame(data, data + count));
    else if (destination == HOST && has_client && stream)
        fwrite(frame, 1, length + 2, stream);
    else if (destination == ESP32 && function == TEST && count > 0)
        command(data, count);
    fflush(stdout);
    if (stream)
        fflush(stream);
}

void Peer::queue(int source, int function, const Frame &data, unsigned version)
{
    unsigned length = data.size() + 2;
    Frame frame = {uint8_t(length), uint8_t(length >> 8), uint8_t(GAP8 | source << 3 | 0x40), uint8_t(function | version << 6)};
    frame.insert(frame.end(), data.begin(), data.end());
    frames.push_back(frame);
}

// s COUNT SIZE SIZE: that many packets of that size; l: a length that there is none of; v: another version; c: a client, or none;
// q MILLISECONDS: the next transfer is set up so much later; r: a report.
void Peer::command(const uint8_t *data, unsigned count)
{
    unsigned value = count > 1 ? data[1] : 0, size = count > 3 ? data[2] | data[3] << 8 : 0;
    if (data[0] == 's')
        for (unsigned number = 0; number < value; number++) {
            Frame packet;
            for (unsigned i = 0; i < size; i++)
                packet.push_back(uint8_t(i * 7 + number));
            queue(HOST, APP, packet);
        }
    if (data[0] == 'l')
        frames.push_back(Frame(1200, 0xFF));
    if (data[0] == 'v')
        queue(HOST, APP, Frame(10, 1), 1);
    if (data[0] == 'c') {
        has_client = value != 0;
        queue(ESP32, WIFI_CONTROL, {0x32, uint8_t(has_client)});
    }
    if (data[0] == 'q')
        quiet_microseconds = int64_t(value) * 1000;
    if (data[0] == 'r')
        printf("cpx peer: %u transfers, %u packets, %u faults\n", transfers, packets, faults);
}

// ---- gvsoc --------------------------------------------------------------------------------------------------------

int Peer::build()
{
    data_port.set_sync_meth(&Peer::on_clock);
    new_slave_port("input", &data_port);
    select_port.set_sync_meth(&Peer::on_select);
    new_slave_port("cs", &select_port);
    their_port.set_sync_meth(&Peer::on_their_line);
    new_slave_port("gap8_ready", &their_port);
    own_port.set_sync_meth(&Peer::on_own_line);
    new_slave_port("esp32_ready", &own_port);
    timer = event_new(this, &Peer::on_time);
    return 0;
}

void Peer::start()
{
    std::string path = get_js_config()->get("stream") ? get_js_config()->get("stream")->get_str() : "";
    stream = path.empty() ? nullptr : fopen(path.c_str(), "wb");
    if (!path.empty()) {
        has_client = true;
        queue(ESP32, WIFI_CONTROL, {0x32, 1});
        prepare_after(setup_microseconds);
    }
}

}

extern "C" vp::component *vp_constructor(js::config *config) { return new Peer(config); }
